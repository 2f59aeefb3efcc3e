package dev.podcache.kubelet.server;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.common.hash.Hashing;
import com.google.common.io.Resources;
import dev.podcache.time.Timekeeper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;

/**
 * The page of a node at {@code /ui}, and the state that it reads every two seconds from {@code /ui/state}. Changes
 * nothing. Thread-safe.
 *
 * <p>The page is one document without external parts. Its Content-Security-Policy names its script and its styles by
 * their hashes, so that nothing else runs, whatever the names and messages contain that the page shows.
 */
final class NodePage {

    private static final String DOCUMENT = "ui.html";
    private static final ObjectMapper JSON = new ObjectMapper();

    private final StateSource state;

    /** Makes the JSON that the page shows. May block. */
    interface StateSource {
        byte[] json(EntryFilter filter) throws IOException;
    }

    NodePage(StateSource state) {
        this.state = state;
    }

    /** Returns the page of a node. */
    static NodePage of(NodeView view, Timekeeper timekeeper) {
        return new NodePage(filter -> JSON.writeValueAsBytes(PageState.of(view, filter, timekeeper.wallTime())));
    }

    /** The document and its policy, read once. */
    private static final class PageDocument {

        static final byte[] HTML = read();
        static final Map<String, String> HEADERS = Map.of(
                "Content-Security-Policy",
                policy(new String(HTML, StandardCharsets.UTF_8)),
                "Cross-Origin-Opener-Policy",
                "same-origin",
                "Referrer-Policy",
                "no-referrer",
                "Cache-Control",
                "no-cache");

        private static byte[] read() {
            try {
                return Resources.toByteArray(Resources.getResource(NodePage.class, DOCUMENT));
            } catch (IOException | IllegalArgumentException e) {
                throw new IllegalStateException("the jar of Podcache is incomplete: it lacks " + DOCUMENT, e);
            }
        }

        private static String policy(String html) {
            return "default-src 'none'; script-src " + hash(html, "script") + "; style-src " + hash(html, "style")
                    + "; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
                    + "; require-trusted-types-for 'script'; trusted-types 'none'";
        }

        private static String hash(String html, String element) {
            int begin = html.indexOf("<" + element + ">") + element.length() + 2;
            String content = html.substring(begin, html.indexOf("</" + element + ">", begin));
            byte[] hash =
                    Hashing.sha256().hashString(content, StandardCharsets.UTF_8).asBytes();
            return "'sha256-" + Base64.getEncoder().encodeToString(hash) + "'";
        }
    }

    /**
     * Answers a request.
     *
     * @throws RefusedException if the page has no such path, or if a parameter is not allowed
     */
    KubeletResponse answer(KubeletRequest request) throws IOException {
        String path = request.path();
        return switch (path.endsWith("/") ? path.substring(0, path.length() - 1) : path) {
            case "/ui" -> KubeletResponse.html(PageDocument.HTML).with(PageDocument.HEADERS);
            case "/ui/state" -> state(request);
            default -> throw new RefusedException(404, "there is nothing here but the page at /ui");
        };
    }

    private KubeletResponse state(KubeletRequest request) throws IOException {
        return KubeletResponse.json(state.json(EntryFilter.of(request)))
                .with(Map.of("Cache-Control", "no-store", "Cross-Origin-Resource-Policy", "same-origin"));
    }
}
