package dev.podcache.kubelet.server;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A state for the page that a test makes up, so that it may contain what no API server accepts. Used under its lock. */
final class ShownState {

    private static final ObjectMapper JSON = new ObjectMapper();

    final ObjectNode state = JSON.createObjectNode();
    final List<ObjectNode> entries = new ArrayList<>();

    ShownState() {
        state.put("node", "worker-1")
                .put("version", "v1.0.0")
                .put("uptimeSeconds", 5400)
                .put("strategy", "WATCH")
                .put("known", true);
        condition("Ready", "True", "KubeletReady", "kubelet is posting ready status");
        condition("MemoryPressure", "False", "KubeletHasSufficientMemory", "");
        state.putObject("heartbeats")
                .put("leaseSeconds", 40)
                .put("sinceRenewalSeconds", 3.2)
                .put("registered", true)
                .put("sinceReportSeconds", 61);
        ObjectNode cache = state.putObject("cache");
        cache.putObject("objects");
        for (String count : List.of(
                "references",
                "bytes",
                "watches",
                "connections",
                "misses",
                "stale",
                "fetches",
                "fetchFailures",
                "watchFailures",
                "updates",
                "evictions")) {
            cache.put(count, 7);
        }
        state.putArray("pods");
    }

    synchronized void condition(String type, String status, String reason, String message) {
        state.withArray("/conditions")
                .addObject()
                .put("type", type)
                .put("status", status)
                .put("reason", reason)
                .put("message", message)
                .put("forSeconds", 300);
    }

    synchronized ObjectNode entry(String kind, String namespace, String name, String cacheState) {
        ObjectNode entry = JSON.createObjectNode()
                .put("kind", kind)
                .put("namespace", namespace)
                .put("name", name)
                .put("state", cacheState)
                .put("ageSeconds", 12.5)
                .put("resourceVersion", "1042")
                .put("bytes", 2100);
        entry.putArray("holders").addObject().put("namespace", namespace).put("name", "web-0");
        entries.add(entry);
        return entry;
    }

    synchronized void pod(String namespace, String name, String phase, String waitsFor) {
        state.withArray("/pods")
                .addObject()
                .put("namespace", namespace)
                .put("name", name)
                .put("phase", phase)
                .put("deleting", false)
                .put("containers", 2)
                .put("ready", waitsFor.isEmpty() ? 2 : 0)
                .put("restarts", 1)
                .put("ageSeconds", 4000)
                .put("status", waitsFor.isEmpty() ? phase : waitsFor.replaceFirst(":.*", ""))
                .put("severity", waitsFor.isEmpty() ? "good" : "bad")
                .put("waitsFor", waitsFor);
    }

    /** Returns the state as the server would select it. */
    synchronized byte[] json(EntryFilter filter) {
        ObjectNode objects = state.withObject("/cache/objects").removeAll();
        ArrayNode shown = state.putArray("entries");
        int matching = 0;
        for (ObjectNode entry : entries) {
            String kind = entry.path("kind").asText();
            ObjectNode counts = objects.get(kind) instanceof ObjectNode known ? known : objects.putObject(kind);
            String cacheState = entry.path("state").asText();
            counts.put(cacheState, counts.path(cacheState).asInt() + 1);
            if (matches(entry, filter)) {
                matching++;
                if (shown.size() < filter.limit()) {
                    shown.add(entry);
                }
            }
        }
        state.put("entriesTotal", entries.size()).put("entriesMatching", matching);
        return state.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static boolean matches(JsonNode entry, EntryFilter filter) {
        return (entry.path("namespace").asText() + "/" + entry.path("name").asText()).contains(filter.text())
                && (filter.kind().isEmpty() || entry.path("kind").asText().equals(filter.kind()))
                && (filter.state().isEmpty() || entry.path("state").asText().equals(filter.state()));
    }
}
