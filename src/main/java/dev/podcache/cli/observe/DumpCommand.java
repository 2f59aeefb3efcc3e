package dev.podcache.cli.observe;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.common.base.Strings;
import com.google.common.base.Throwables;
import com.google.common.collect.ImmutableMap;
import dev.podcache.cli.config.ClusterAccess;
import dev.podcache.cli.config.NodeName;
import dev.podcache.cli.output.CommandException;
import dev.podcache.cli.output.Console;
import dev.podcache.cli.output.EventWriter;
import dev.podcache.cli.output.OutputOptions;
import dev.podcache.cli.output.ProgramEvent;
import dev.podcache.cli.output.Seconds;
import dev.podcache.object.Quoted;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** The subcommand {@code dump}. */
@Command(
        name = "dump",
        header = "Shows what a running agent holds: states, ages, holders and failures.",
        mixinStandardHelpOptions = true,
        description = {
            "Asks the agent for /debug/objects through the API server, as `kubectl get --raw"
                    + " /api/v1/nodes/NODE/proxy/debug/objects` does. Needs the verb get on nodes/proxy, and an agent that"
                    + " was started with --client-ca-file. Never prints the contents of objects."
        },
        footer = {"", "Example:", "  podcache dump --node hollow-1 -o json"})
public final class DumpCommand implements Callable<Integer> {

    private static final ObjectMapper JSON = new ObjectMapper();

    private final Console console;

    @Mixin
    private NodeName node = new NodeName();

    @Mixin
    private OutputOptions output = new OutputOptions();

    public DumpCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        String name = node.name(console);
        console.logging().accept(output.level(Level.ERROR));
        Config config = node.cluster(console);
        config.setRequestRetryBackoffLimit(0);
        JsonNode objects;
        try (KubernetesClient client = ClusterAccess.client(config)) {
            objects = fetched(client, name).path("objects");
        }
        try (EventWriter events = EventWriter.to(console.out(), output.format)) {
            objects.forEach(object -> events.block(event(object)));
            if (output.format == EventWriter.Format.TEXT) {
                events.block(ProgramEvent.of(
                        "total",
                        "text",
                        objects.size() + (objects.size() == 1 ? " object" : " objects") + " on node " + name));
            }
            events.requireReader();
        }
        return 0;
    }

    private static JsonNode fetched(KubernetesClient client, String name) {
        String path = "/api/v1/nodes/" + name + "/proxy/debug/objects";
        @Nullable String body;
        try {
            body = client.raw(path);
        } catch (KubernetesClientException e) {
            throw new CommandException("node " + Quoted.value(name) + ": " + failure(e, client), e);
        }
        if (body == null) {
            throw new CommandException(
                    "node " + Quoted.value(name)
                            + " does not exist, or is no agent of Podcache: it has no /debug/objects",
                    null);
        }
        try {
            JsonNode answer = JSON.readTree(body);
            if (answer.path("objects").isArray()) {
                return answer;
            }
        } catch (JsonProcessingException e) {
            // refused below; its message may quote the answer
        }
        throw new CommandException(
                "node " + Quoted.value(name) + " answered without a list of objects: is it an agent of Podcache?",
                null);
    }

    private static String failure(KubernetesClientException e, KubernetesClient client) {
        return switch (Math.max(0, e.getCode())) {
            case 0 ->
                "API server " + client.getMasterUrl() + " did not answer ("
                        + Quoted.text(String.valueOf(Throwables.getRootCause(e).getMessage())) + "): try doctor";
            case 401 ->
                "credentials were not accepted (401): start the agent with --client-ca-file, so that it accepts those"
                        + " of the API server; doctor checks yours";
            case 403 -> "access was refused (403): grant get on nodes/proxy";
            case 404 -> "it does not exist, or is no agent of Podcache (404)";
            default ->
                "the API server could not reach its endpoint (" + e.getCode()
                        + "): check the agent's log, --port and --client-ca-file";
        };
    }

    private static ProgramEvent event(JsonNode object) {
        List<String> words = new ArrayList<>();
        words.add(Strings.padEnd(object.path("state").asText(), "NOT_SYNCED".length(), ' '));
        words.add(Strings.padEnd(object.path("kind").asText(), "ConfigMap".length(), ' '));
        words.add(object.path("namespace").asText() + "/" + object.path("name").asText());
        if (object.has("ageSeconds")) {
            words.add("age " + Seconds.text(object.path("ageSeconds").asDouble()));
        }
        words.add(object.path("bytes").asInt() + " bytes");
        words.add("held by " + holders(object.path("holders")));
        if (object.has("lastFailure")) {
            words.add("last failure: " + object.path("lastFailure").asText());
        }
        Map<String, Object> facts = JSON.convertValue(object, new TypeReference<>() {});
        return new ProgramEvent("object", Quoted.text(String.join("  ", words)), ImmutableMap.copyOf(facts));
    }

    private static String holders(JsonNode holders) {
        List<String> names = new ArrayList<>();
        holders.forEach(holder -> names.add(
                (holder.path("kind").asText() + " " + holder.path("namespace").asText() + "/"
                                + holder.path("name").asText())
                        .strip()));
        return names.isEmpty() ? "nothing" : String.join(", ", names);
    }
}
