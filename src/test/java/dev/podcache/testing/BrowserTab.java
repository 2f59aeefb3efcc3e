package dev.podcache.testing;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

/** One tab of a {@link Browser}. Methods wait for their effect, at most as long as {@link Patience}. Used by one thread. */
public final class BrowserTab implements AutoCloseable {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final HttpClient HTTP = HttpClient.newHttpClient();

    private final AtomicInteger lastId = new AtomicInteger();
    private final Map<Integer, CompletableFuture<JsonNode>> pending = new ConcurrentHashMap<>();
    private final Queue<String> problems = new ConcurrentLinkedQueue<>();
    private final Queue<String> requests = new ConcurrentLinkedQueue<>();
    private final String closeUrl;
    private final WebSocket socket;

    private BrowserTab(JsonNode target, String browser) {
        this.closeUrl = browser + "/json/close/" + target.path("id").asText();
        this.socket = HTTP.newWebSocketBuilder()
                .buildAsync(URI.create(target.path("webSocketDebuggerUrl").asText()), new DevToolsMessages())
                .join();
    }

    static BrowserTab open(int port) throws IOException {
        String browser = "http://127.0.0.1:" + port;
        BrowserTab tab = new BrowserTab(JSON.readTree(http("PUT", browser + "/json/new?about:blank")), browser);
        for (String domain : List.of("Page", "Runtime", "Log", "Network")) {
            tab.call(domain + ".enable", Map.of());
        }
        return tab;
    }

    private static String http(String method, String url) throws IOException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(url))
                .method(method, HttpRequest.BodyPublishers.noBody())
                .build();
        try {
            return HTTP.send(request, BodyHandlers.ofString()).body();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
        }
    }

    /** Loads a page. */
    public void load(String url) {
        call("Page.navigate", Map.of("url", url));
        until("location.href !== 'about:blank' && document.readyState === 'complete'");
    }

    /** Returns the value of an expression of JavaScript, after its promise if it is one. */
    public JsonNode evaluate(String expression) {
        JsonNode answer =
                call("Runtime.evaluate", Map.of("expression", expression, "returnByValue", true, "awaitPromise", true));
        if (answer.has("exceptionDetails")) {
            throw new AssertionError(expression + ": " + answer.path("exceptionDetails"));
        }
        return answer.path("result").path("value");
    }

    /** Waits until an expression of JavaScript is true. */
    public void until(String condition) {
        Patience.await()
                .alias(condition)
                .ignoreExceptions()
                .until(() -> evaluate("Boolean(" + condition + ")").asBoolean());
    }

    /** Returns the text of the first element that a CSS selector selects, as a user sees it. */
    public String text(String selector) {
        return evaluate("document.querySelector('" + selector + "').innerText").asText();
    }

    /** Sets the size of the window, in CSS pixels; a narrow one is that of a phone. */
    public void size(int width, int height) {
        call(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", width < 500));
    }

    /** Sets whether the user prefers {@code light} or {@code dark} pages. */
    public void prefers(String scheme) {
        call(
                "Emulation.setEmulatedMedia",
                Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", scheme))));
    }

    /** Writes a picture of the page, in its whole height but at most 2000 pixels, into target/ui-screenshots. */
    public void screenshot(String name) {
        int height =
                Math.min(2000, evaluate("document.documentElement.scrollHeight").asInt());
        screenshot(Path.of("target", "ui-screenshots", name + ".png"), height);
    }

    /** Writes a picture of the upper part of the page. */
    public void screenshot(Path file, int height) {
        int width = evaluate("innerWidth").asInt();
        Map<String, Object> clip = Map.of("x", 0, "y", 0, "width", width, "height", height, "scale", 1);
        JsonNode picture =
                call("Page.captureScreenshot", Map.of("format", "png", "captureBeyondViewport", true, "clip", clip));
        try {
            Files.createDirectories(file.toAbsolutePath().getParent());
            Files.write(file, Base64.getDecoder().decode(picture.path("data").asText()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns what the console shows of errors and warnings: exceptions, violated policies, failed requests. */
    public List<String> problems() {
        return List.copyOf(problems);
    }

    /** Returns the URLs of all requests. */
    public List<String> requests() {
        return List.copyOf(requests);
    }

    /** Calls a method of the protocol and returns its result. */
    private JsonNode call(String method, Map<String, Object> parameters) {
        int id = lastId.incrementAndGet();
        CompletableFuture<JsonNode> answer = new CompletableFuture<>();
        pending.put(id, answer);
        try {
            socket.sendText(JSON.writeValueAsString(Map.of("id", id, "method", method, "params", parameters)), true)
                    .get(Patience.SECONDS, TimeUnit.SECONDS);
            JsonNode message = answer.get(Patience.SECONDS, TimeUnit.SECONDS);
            if (message.has("error")) {
                throw new AssertionError(method + ": " + message.path("error"));
            }
            return message.path("result");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(method, e);
        } catch (IOException | ExecutionException | TimeoutException e) {
            throw new AssertionError(method, e);
        }
    }

    private void received(JsonNode message) {
        if (message.has("id")) {
            CompletableFuture<JsonNode> answer =
                    pending.remove(message.path("id").asInt());
            if (answer != null) {
                answer.complete(message);
            }
            return;
        }
        JsonNode event = message.path("params");
        switch (message.path("method").asText()) {
            case "Runtime.exceptionThrown" ->
                problems.add(event.path("exceptionDetails").toString());
            case "Runtime.consoleAPICalled" -> problems.add(event.toString());
            case "Log.entryAdded" -> problems.add(event.path("entry").toString());
            case "Network.requestWillBeSent" ->
                requests.add(event.path("request").path("url").asText());
            default -> {
                // of no interest
            }
        }
    }

    /** Puts the parts of a message together. */
    private final class DevToolsMessages implements WebSocket.Listener {

        private final StringBuilder parts = new StringBuilder();

        @Override
        public CompletionStage<?> onText(WebSocket webSocket, CharSequence part, boolean last) {
            parts.append(part);
            if (last) {
                String message = parts.toString();
                parts.setLength(0);
                try {
                    received(JSON.readTree(message));
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
            webSocket.request(1);
            return CompletableFuture.completedFuture(null);
        }
    }

    /** Closes the tab. */
    @Override
    public void close() {
        socket.abort();
        try {
            http("GET", closeUrl);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
