package dev.podcache.cli.demo;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.podcache.cli.output.CapturedConsole;
import dev.podcache.testing.Browser;
import dev.podcache.testing.BrowserTab;
import dev.podcache.testing.NewThread;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;

/**
 * Takes the pictures of the page for the documentation, {@code docs/img/ui-light.png} and {@code ui-dark.png}, from the
 * demo: after the failure of its API server, after most of a minute.
 */
final class PagePicturesProgram {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int WIDTH = 1280;
    private static final int HEIGHT = 960;

    private PagePicturesProgram() {}

    public static void main(String[] args) throws IOException {
        CapturedConsole console = new CapturedConsole(Path.of("/nonexistent"));
        CompletableFuture<Integer> demo = CompletableFuture.supplyAsync(
                () -> console.execute("demo", "--for", "70s", "--ui-port", "0", "-o", "json"), NewThread.EACH);
        try (Browser browser = Browser.start();
                BrowserTab tab = browser.tab()) {
            tab.size(WIDTH, HEIGHT);
            patient().until(() -> url(console).isPresent());
            tab.load(url(console).orElseThrow());
            patient().until(() -> console.out().stream().anyMatch(line -> line.contains("\"outage\"")));
            tab.until("!document.getElementById('entries').innerText.includes('Stale')");
            tab.until("!document.getElementById('lease-note').innerText.includes('failing')");
            for (String scheme : new String[] {"light", "dark"}) {
                tab.prefers(scheme);
                tab.screenshot(Path.of("docs", "img", "ui-" + scheme + ".png"), HEIGHT);
            }
        } finally {
            console.stop();
            demo.join();
        }
    }

    private static ConditionFactory patient() {
        return Awaitility.await().atMost(Duration.ofMinutes(4));
    }

    private static Optional<String> url(CapturedConsole console) throws IOException {
        for (String line : console.out()) {
            if (line.contains("\"page\"")) {
                return Optional.of(JSON.readTree(line).path("url").asText());
            }
        }
        return Optional.empty();
    }
}
