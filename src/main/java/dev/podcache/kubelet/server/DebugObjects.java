package dev.podcache.kubelet.server;

import com.google.common.base.Strings;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.manager.ObjectEntry;
import dev.podcache.object.Quoted;
import dev.podcache.object.Referrer;
import dev.podcache.object.Usage;
import java.time.Duration;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Shows the objects of a cache as {@code /debug/objects} does: names, states and failures, never contents. */
final class DebugObjects {

    static final Comparator<ObjectEntry> ORDER = Comparator.<ObjectEntry, String>comparing(
                    entry -> entry.kind().name())
            .thenComparing(entry -> entry.key().namespace())
            .thenComparing(entry -> entry.key().name());

    private DebugObjects() {}

    /** Returns the JSON of a list of objects, by kind, namespace and name. */
    static Map<String, Object> of(String node, List<ObjectEntry> entries) {
        return Map.of("node", node, "objects", list(entries));
    }

    /** Returns the JSON of objects, by kind, namespace and name. */
    static List<Map<String, Object>> list(List<ObjectEntry> entries) {
        return entries.stream().sorted(ORDER).map(DebugObjects::fields).toList();
    }

    /** Returns the JSON of an object. The map may be changed. */
    static Map<String, Object> fields(ObjectEntry entry) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("kind", entry.kind().name());
        fields.put("namespace", entry.key().namespace());
        fields.put("name", entry.key().name());
        fields.put("state", entry.cacheState().name());
        entry.age().map(DebugObjects::seconds).ifPresent(age -> fields.put("ageSeconds", age));
        fields.put("resourceVersion", entry.resourceVersion());
        fields.put("uid", entry.uid());
        fields.put("bytes", entry.bytes());
        fields.put("references", entry.state().references());
        fields.put("freshness", entry.state().freshness());
        entry.connection().ifPresent(connection -> fields.put("connection", connection));
        fields.put(
                "holders",
                entry.referrers().stream()
                        .sorted(Comparator.comparing(Referrer::namespace).thenComparing(Referrer::name))
                        .map(referrer -> holder(entry, referrer))
                        .toList());
        entry.lastFailure().map(DebugObjects::failure).ifPresent(failure -> fields.put("lastFailure", failure));
        return fields;
    }

    private static Map<String, Object> holder(ObjectEntry entry, Referrer referrer) {
        Map<String, Object> holder = new LinkedHashMap<>();
        holder.put("kind", Strings.nullToEmpty(referrer.kind()));
        holder.put("namespace", referrer.namespace());
        holder.put("name", referrer.name());
        holder.put("uid", referrer.uid());
        holder.put(
                "usages",
                entry.usages(referrer).stream().sorted().map(Usage::name).toList());
        return holder;
    }

    /** Quotes the message of an API server's failure, which has no content; nothing is known of other messages. */
    private static String failure(Throwable failure) {
        return Optional.of(failure)
                .filter(ApiServerException.class::isInstance)
                .map(known -> Quoted.text(String.valueOf(known.getMessage())))
                .orElse(failure.getClass().getName());
    }

    private static double seconds(Duration duration) {
        return duration.toMillis() / 1000.0;
    }
}
