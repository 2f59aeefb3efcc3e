package dev.podcache.kubelet.server;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.manager.CacheStats;
import dev.podcache.manager.ObjectEntry;
import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.Quoted;
import dev.podcache.time.ApiTime;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeCondition;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What the page of a node shows, as JSON: names, states, ages and counts, never contents of objects. Times are in
 * seconds; a field without a value is missing.
 */
final class PageState {

    private static final Comparator<ObjectEntry> ATTENTION_FIRST =
            Comparator.comparing(entry -> !EntryFilter.needsAttention(entry));

    /** A shorter silence may be one request that was lost. */
    private static final Duration SILENT = Duration.ofSeconds(3);

    private final Instant now;

    private PageState(Instant now) {
        this.now = now;
    }

    /** Returns the JSON of a node. */
    static Map<String, Object> of(NodeView view, EntryFilter filter, Instant now) {
        PageState page = new PageState(now);
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("node", view.node());
        fields.put("version", view.version());
        fields.put("time", now.toString());
        fields.put("uptimeSeconds", seconds(view.uptime()));
        fields.put("strategy", view.strategy().name());
        fields.put("known", view.lastSeen().isPresent());
        view.unansweredFor()
                .filter(silence -> silence.compareTo(SILENT) >= 0)
                .ifPresent(silence -> fields.put("unansweredSeconds", seconds(silence)));
        fields.put("conditions", page.conditions(view.lastSeen()));
        view.heartbeats().ifPresent(state -> fields.put("heartbeats", page.heartbeats(state)));
        fields.put("cache", cache(view.stats()));
        List<ObjectEntry> entries = view.entries();
        addEntries(fields, entries, filter);
        PagePods pods = new PagePods(entries, now);
        fields.put("pods", view.pods().stream().map(pods::fields).toList());
        return fields;
    }

    private static void addEntries(Map<String, Object> fields, List<ObjectEntry> entries, EntryFilter filter) {
        List<ObjectEntry> matching = entries.stream().filter(filter::matches).toList();
        List<ObjectEntry> shown = matching.size() <= filter.limit()
                ? matching
                : matching.stream()
                        .sorted(ATTENTION_FIRST.thenComparing(DebugObjects.ORDER))
                        .limit(filter.limit())
                        .toList();
        fields.put("entriesTotal", entries.size());
        fields.put("entriesMatching", matching.size());
        fields.put(
                "refused",
                entries.stream().filter(entry -> refusal(entry).isPresent()).count());
        fields.put(
                "entries",
                shown.stream().sorted(DebugObjects.ORDER).map(PageState::entry).toList());
    }

    private static Map<String, Object> entry(ObjectEntry entry) {
        Map<String, Object> fields = DebugObjects.fields(entry);
        refusal(entry).ifPresent(refused -> fields.put("missingRule", missingRule(entry, refused)));
        return fields;
    }

    private static Optional<ApiServerException> refusal(ObjectEntry entry) {
        return entry.lastFailure()
                .filter(ApiServerException.class::isInstance)
                .map(ApiServerException.class::cast)
                .filter(failure -> failure.reason() == FailureReason.FORBIDDEN);
    }

    /** Returns the rule that a Role in the object's namespace lacks, in YAML, where 123 and true would be no names. */
    private static String missingRule(ObjectEntry entry, ApiServerException refused) {
        String apiVersion = entry.kind().apiVersion();
        int slash = apiVersion.indexOf('/');
        boolean got = String.valueOf(refused.getMessage()).startsWith("GET ");
        return "{apiGroups: [\"" + (slash < 0 ? "" : apiVersion.substring(0, slash)) + "\"], resources: ["
                + entry.kind().plural() + "], resourceNames: [\"" + entry.key().name() + "\"], verbs: ["
                + (got ? "get" : "list, watch") + "]}";
    }

    private List<Map<String, Object>> conditions(Optional<Node> node) {
        return node.map(Node::getStatus).stream()
                .flatMap(status -> status.getConditions().stream())
                .map(this::condition)
                .toList();
    }

    private Map<String, Object> condition(NodeCondition condition) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("type", text(condition.getType()));
        fields.put("status", text(condition.getStatus()));
        fields.put("reason", text(condition.getReason()));
        fields.put("message", text(condition.getMessage()));
        ApiTime.parse(condition.getLastTransitionTime()).ifPresent(at -> fields.put("forSeconds", since(at, now)));
        return fields;
    }

    private Map<String, Object> heartbeats(NodeView.HeartbeatState state) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("leaseSeconds", seconds(state.leaseDuration()));
        state.sinceRenewal().ifPresent(age -> fields.put("sinceRenewalSeconds", seconds(age)));
        fields.put("registered", state.registered());
        state.lastReport().ifPresent(at -> fields.put("sinceReportSeconds", since(at, now)));
        state.problem().ifPresent(problem -> fields.put("problem", Quoted.text(problem)));
        return fields;
    }

    private static Map<String, Object> cache(CacheStats stats) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("objects", objects(stats.objects()));
        fields.put("references", stats.references());
        fields.put("bytes", stats.bytes());
        fields.put("watches", stats.watches());
        fields.put("connections", stats.connections());
        stats.hits().ifPresent(hits -> fields.put("hits", hits));
        fields.put("misses", stats.misses());
        fields.put("stale", stats.stale());
        fields.put("fetches", stats.fetchesAnswered() + stats.fetchesNotFound());
        fields.put("fetchFailures", sum(stats.fetchesFailed()));
        fields.put("watchFailures", sum(stats.watchFailures()));
        fields.put("updates", stats.updates());
        fields.put("evictions", stats.evictions());
        return fields;
    }

    private static Map<String, Map<String, Integer>> objects(Map<ObjectKind<?>, Map<CacheState, Integer>> counts) {
        Map<String, Map<String, Integer>> byKind = new TreeMap<>();
        counts.forEach((kind, states) -> {
            Map<String, Integer> byState = new TreeMap<>();
            states.forEach((state, count) -> byState.put(state.name(), count));
            byKind.put(kind.name(), byState);
        });
        return byKind;
    }

    private static long sum(Map<?, Long> counts) {
        return counts.values().stream().mapToLong(Long::longValue).sum();
    }

    /** Returns text that another client may have written; "" for null. */
    static String text(@Nullable String text) {
        return text == null ? "" : Quoted.text(text);
    }

    /** Returns the seconds since a time of another clock, which may be ahead of ours. */
    static double since(Instant at, Instant now) {
        return Math.max(0, seconds(Duration.between(at, now)));
    }

    private static double seconds(Duration duration) {
        return duration.toMillis() / 1000.0;
    }
}
