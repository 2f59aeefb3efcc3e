package dev.podcache.embedded;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;

/** Creates the tables that {@code kubectl get} prints: the name, a few columns per resource, and the age. */
final class Tables {

    private final Supplier<Instant> now;

    /**
     * Creates tables.
     *
     * @param now supplies the time from which ages are computed
     */
    Tables(Supplier<Instant> now) {
        this.now = now;
    }

    private record Column(String name, Function<JsonNode, String> cell) {
        static Column at(String name, String pointer) {
            return new Column(name, object -> object.at(pointer).asText("<none>"));
        }

        static Column sizeOf(String name, String field) {
            return new Column(
                    name, object -> Integer.toString(object.path(field).size()));
        }
    }

    private static final ImmutableMap<Resource, ImmutableList<Column>> COLUMNS =
            ImmutableMap.<Resource, ImmutableList<Column>>builder()
                    .put(
                            Resource.NODES,
                            ImmutableList.of(
                                    new Column("Status", Tables::readiness),
                                    Column.at("Version", "/status/nodeInfo/kubeletVersion")))
                    .put(Resource.NAMESPACES, ImmutableList.of(Column.at("Status", "/status/phase")))
                    .put(
                            Resource.PODS,
                            ImmutableList.of(
                                    new Column("Status", Tables::podStatus), Column.at("Node", "/spec/nodeName")))
                    .put(Resource.SECRETS, ImmutableList.of(Column.at("Type", "/type"), Column.sizeOf("Data", "data")))
                    .put(Resource.CONFIG_MAPS, ImmutableList.of(Column.sizeOf("Data", "data")))
                    .put(
                            Resource.SERVICES,
                            ImmutableList.of(
                                    Column.at("Type", "/spec/type"), Column.at("Cluster-IP", "/spec/clusterIP")))
                    .put(
                            Resource.EVENTS,
                            ImmutableList.of(
                                    Column.at("Type", "/type"),
                                    Column.at("Reason", "/reason"),
                                    Column.at("Message", "/message")))
                    .put(Resource.LEASES, ImmutableList.of(Column.at("Holder", "/spec/holderIdentity")))
                    .buildOrThrow();

    private static ImmutableList<Column> columns(Resource resource) {
        return COLUMNS.getOrDefault(resource, ImmutableList.of());
    }

    /** Returns the table of a list. */
    ObjectNode table(Resource resource, List<ObjectNode> objects, String resourceVersion) {
        ObjectNode table = Json.MAPPER.createObjectNode();
        table.put("kind", "Table").put("apiVersion", "meta.k8s.io/v1");
        table.putObject("metadata").put("resourceVersion", resourceVersion);
        ArrayNode definitions = table.putArray("columnDefinitions");
        define(definitions, "Name", "name");
        columns(resource).forEach(column -> define(definitions, column.name(), ""));
        define(definitions, "Age", "");
        ArrayNode rows = table.putArray("rows");
        objects.forEach(object -> addRow(rows, resource, object));
        return table;
    }

    /** Returns the table of one object, with its resourceVersion. */
    ObjectNode row(Resource resource, ObjectNode object) {
        return table(
                resource,
                ImmutableList.of(object),
                object.path("metadata").path("resourceVersion").asText());
    }

    private static void define(ArrayNode definitions, String name, String format) {
        definitions
                .addObject()
                .put("name", name)
                .put("type", "string")
                .put("format", format)
                .put("description", "")
                .put("priority", 0);
    }

    private void addRow(ArrayNode rows, Resource resource, ObjectNode object) {
        ObjectNode row = rows.addObject();
        ArrayNode cells = row.putArray("cells");
        cells.add(object.path("metadata").path("name").asText());
        columns(resource).forEach(column -> cells.add(column.cell().apply(object)));
        cells.add(age(object.path("metadata").path("creationTimestamp").asText()));
        ObjectNode partial = row.putObject("object");
        partial.put("kind", "PartialObjectMetadata").put("apiVersion", "meta.k8s.io/v1");
        partial.set("metadata", object.path("metadata"));
    }

    private String age(String created) {
        try {
            Duration age = Duration.between(Instant.parse(created), now.get());
            if (age.toMinutes() < 2) {
                return age.toSeconds() + "s";
            }
            return age.toHours() < 3
                    ? age.toMinutes() + "m"
                    : age.toDays() < 2 ? age.toHours() + "h" : age.toDays() + "d";
        } catch (DateTimeParseException e) {
            return "<unknown>";
        }
    }

    private static String readiness(JsonNode node) {
        String ready = "Unknown";
        for (JsonNode condition : node.at("/status/conditions")) {
            if (condition.path("type").asText().equals("Ready")) {
                ready = condition.path("status").asText().equals("True") ? "Ready" : "NotReady";
            }
        }
        return node.at("/spec/unschedulable").asBoolean() ? ready + ",SchedulingDisabled" : ready;
    }

    private static String podStatus(JsonNode pod) {
        return pod.at("/metadata").has("deletionTimestamp")
                ? "Terminating"
                : pod.at("/status/phase").asText("Unknown");
    }
}
