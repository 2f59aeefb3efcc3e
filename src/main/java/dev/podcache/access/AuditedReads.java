package dev.podcache.access;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.common.base.Splitter;
import dev.podcache.object.NotApi;
import dev.podcache.object.Quoted;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Finds the successful reads of one user in an audit log of an API server: a file with one {@code audit.k8s.io} event a
 * line. Other lines are skipped, but a file without an event of the user is none to conclude from. Pure functions over the
 * file.
 *
 * @hidden
 */
@NotApi
public final class AuditedReads {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Set<String> READS = Set.of("get", "list", "watch");
    private static final String BY_NAME = "metadata.name=";

    private AuditedReads() {}

    /**
     * A read that was allowed.
     *
     * @param namespace empty for all namespaces
     * @param name empty for a list or watch that selects no name
     * @hidden
     */
    public record AuditedRead(String verb, String group, String resource, String namespace, String name)
            implements Comparable<AuditedRead> {

        @Override
        public int compareTo(AuditedRead other) {
            return toString().compareTo(other.toString());
        }

        /** Returns verb and object, such as {@code get secrets shop/db}. */
        @Override
        public String toString() {
            String resources = group.isEmpty() ? resource : resource + "." + group;
            return verb + " " + resources + " "
                    + (name.isEmpty()
                            ? "without a name in " + (namespace.isEmpty() ? "all namespaces" : namespace)
                            : namespace + "/" + name);
        }
    }

    /**
     * Returns the reads of a user and how often each was made.
     *
     * @throws UncheckedIOException if the file cannot be read
     * @throws IllegalArgumentException if it has no event of the user; the message says what it has
     */
    public static Map<AuditedRead, Integer> reads(Path file, String user) {
        Map<AuditedRead, Integer> reads = new TreeMap<>();
        Set<String> counted = new HashSet<>();
        long events = 0;
        boolean known = false;
        try (BufferedReader lines = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                JsonNode event = event(line);
                JsonNode object = event.path("objectRef");
                JsonNode name = event.path("user").path("username");
                events += name.isTextual() ? 1 : 0;
                boolean own = user.equals(name.asText());
                known |= own;
                boolean read = own
                        && READS.contains(event.path("verb").asText())
                        && event.path("responseStatus").path("code").asInt(500) < 400
                        && object.path("subresource").asText().isEmpty();
                String id = event.path("auditID").asText();
                // a watch is logged when it begins and when it ends
                if (read && (id.isEmpty() || counted.add(id))) {
                    reads.merge(read(event, object), 1, Integer::sum);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        if (events == 0) {
            throw new IllegalArgumentException(
                    "has no event of audit.k8s.io: give a file with one event a line, as JSON");
        }
        if (!known) {
            throw new IllegalArgumentException("has " + events + (events == 1 ? " event" : " events") + ", none by "
                    + Quoted.text(user) + ": check the name of the operator");
        }
        return reads;
    }

    private static JsonNode event(String line) {
        try {
            JsonNode event = JSON.readTree(line);
            return event == null ? JSON.missingNode() : event;
        } catch (JsonProcessingException e) {
            return JSON.missingNode();
        }
    }

    private static AuditedRead read(JsonNode event, JsonNode object) {
        String name = object.path("name").asText();
        return new AuditedRead(
                event.path("verb").asText(),
                object.path("apiGroup").asText(),
                object.path("resource").asText(),
                object.path("namespace").asText(),
                name.isEmpty() ? selected(event.path("requestURI").asText()) : name);
    }

    private static String selected(String uri) {
        int query = uri.indexOf('?');
        if (query < 0) {
            return "";
        }
        for (String parameter : Splitter.on('&').split(uri.substring(query + 1))) {
            if (parameter.startsWith("fieldSelector=")) {
                for (String term : Splitter.on(',').split(decoded(parameter.substring("fieldSelector=".length())))) {
                    if (term.startsWith(BY_NAME)) {
                        return term.substring(BY_NAME.length()).replaceFirst("^=", "");
                    }
                }
            }
        }
        return "";
    }

    private static String decoded(String text) {
        try {
            return URLDecoder.decode(text, StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            return "";
        }
    }
}
