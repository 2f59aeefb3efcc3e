package dev.podcache.cli.observe;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.common.base.Strings;
import com.google.common.collect.ImmutableMap;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.apiserver.fabric8.RequestLimit;
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
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;
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
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

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
        JsonNode objects;
        try (Fabric8ApiServer server = ClusterAccess.server(config, RequestLimit.UNLIMITED)) {
            objects = fetched(server, name).path("objects");
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

    private static JsonNode fetched(Fabric8ApiServer server, String name) {
        byte[] body;
        try {
            body = server.raw("/api/v1/nodes/" + name + "/proxy/debug/objects", TIMEOUT)
                    .join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof ApiServerException failure) {
                throw new CommandException("node " + Quoted.value(name) + ": " + failure(failure), e);
            }
            throw e;
        }
        try {
            JsonNode answer = JSON.readTree(body);
            if (answer.path("objects").isArray()) {
                return answer;
            }
        } catch (IOException e) {
            // refused below; its message may quote the answer
        }
        throw new CommandException(
                "node " + Quoted.value(name) + " answered without a list of objects: is it an agent of Podcache?",
                null);
    }

    private static String failure(ApiServerException failure) {
        return switch (failure.httpCode()) {
            case 0 -> failure.getMessage() + ": try doctor";
            case 401 ->
                "credentials were not accepted (401): start the agent with --client-ca-file, so that it accepts those"
                        + " of the API server; doctor checks yours";
            case 403 -> "access was refused (403): grant get on nodes/proxy";
            case 404 -> "it does not exist, or is no agent of Podcache (404)";
            default ->
                "the API server could not reach its endpoint (" + failure.httpCode()
                        + "): check the agent's log, --port and --client-ca-file";
        };
    }

    /** Each part is quoted by itself: the whole line may be long, and its end says what failed. */
    private static ProgramEvent event(JsonNode object) {
        List<String> words = new ArrayList<>();
        words.add(Strings.padEnd(text(object, "state"), "NOT_SYNCED".length(), ' '));
        words.add(Strings.padEnd(text(object, "kind"), "ConfigMap".length(), ' '));
        words.add(text(object, "namespace") + "/" + text(object, "name"));
        if (object.has("ageSeconds")) {
            words.add("age " + Seconds.text(object.path("ageSeconds").asDouble()));
        }
        words.add(object.path("bytes").asInt() + " bytes");
        words.add("held by " + holders(object.path("holders")));
        if (object.has("lastFailure")) {
            words.add("last failure: " + text(object, "lastFailure"));
        }
        return new ProgramEvent("object", String.join("  ", words), facts(object));
    }

    private static String text(JsonNode object, String field) {
        return Quoted.text(object.path(field).asText());
    }

    private static ImmutableMap<String, Object> facts(JsonNode object) {
        ImmutableMap.Builder<String, Object> facts = ImmutableMap.builder();
        // the writer writes trees as they are
        object.properties().forEach(fact -> facts.put(fact.getKey(), fact.getValue()));
        return facts.buildOrThrow();
    }

    private static String holders(JsonNode holders) {
        List<String> names = new ArrayList<>();
        holders.forEach(holder -> names.add(
                (text(holder, "kind") + " " + text(holder, "namespace") + "/" + text(holder, "name")).strip()));
        return names.isEmpty() ? "nothing" : String.join(", ", names);
    }
}
