package dev.podcache.cli.access;

import com.google.common.collect.ImmutableList;
import dev.podcache.cli.output.CommandException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Parse;
import org.snakeyaml.engine.v2.events.CollectionEndEvent;
import org.snakeyaml.engine.v2.events.CollectionStartEvent;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.schema.CoreSchema;

/** Reads the documents of a manifest: YAML or JSON, from a file or from standard input. */
final class Manifests {

    private static final int LARGEST = 32 << 20;

    /** The parser is recursive; no manifest is deeper than this. */
    private static final int DEEPEST = 200;

    private final String origin;

    private Manifests(String origin) {
        this.origin = origin;
    }

    /**
     * Returns the documents that are maps, in their order; others cannot be objects of an API server.
     *
     * @param file a path, or {@code -} for standard input
     * @throws CommandException if it cannot be read, or is neither YAML nor JSON; the message names it and, if known, the
     *     line
     */
    static ImmutableList<Map<?, ?>> read(String file, InputStream standardInput) {
        Manifests manifests = new Manifests(file.equals("-") ? "standard input" : file);
        return manifests.parsed(manifests.text(file, standardInput));
    }

    private ImmutableList<Map<?, ?>> parsed(String text) {
        LoadSettings settings = LoadSettings.builder()
                .setLabel(origin)
                .setSchema(new CoreSchema())
                .setCodePointLimit(LARGEST)
                .build();
        ImmutableList.Builder<Map<?, ?>> documents = ImmutableList.builder();
        try {
            requireShallow(new Parse(settings).parseString(text));
            for (@Nullable Object document : new Load(settings).loadAllFromString(text)) {
                if (document instanceof Map<?, ?> map) {
                    documents.add(map);
                }
            }
        } catch (MarkedYamlEngineException e) {
            int line = e.getProblemMark().map(mark -> mark.getLine() + 1).orElse(1);
            throw broken(" line " + line + " is neither YAML nor JSON: " + e.getProblem(), e);
        } catch (YamlEngineException | IllegalArgumentException e) {
            throw broken(" is neither YAML nor JSON: " + e.getMessage(), e);
        }
        return documents.build();
    }

    /** Checks the depth on the stream of events, without recursion. */
    private void requireShallow(Iterable<Event> events) {
        int depth = 0;
        for (Event event : events) {
            depth += event instanceof CollectionStartEvent ? 1 : event instanceof CollectionEndEvent ? -1 : 0;
            if (depth > DEEPEST) {
                int line = event.getStartMark().map(mark -> mark.getLine() + 1).orElse(1);
                throw broken(" line " + line + " is nested deeper than " + DEEPEST + " levels: write it flatter", null);
            }
        }
    }

    private String text(String file, InputStream standardInput) {
        try {
            byte[] bytes = file.equals("-") ? standardInput.readNBytes(LARGEST + 1) : bytes(Path.of(file));
            if (bytes.length > LARGEST) {
                throw broken(" is larger than " + (LARGEST >> 20) + " MiB: give a part of it", null);
            }
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .onMalformedInput(CodingErrorAction.REPORT)
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (NoSuchFileException e) {
            throw broken(" does not exist: give the path of a manifest, or - for standard input", e);
        } catch (CharacterCodingException e) {
            throw broken(" is not UTF-8 text: give a manifest in YAML or JSON", e);
        } catch (IOException e) {
            throw broken(" cannot be read (" + e.getMessage() + "): give the path of a readable manifest", e);
        }
    }

    private byte[] bytes(Path path) throws IOException {
        if (Files.isDirectory(path)) {
            throw broken(" is a directory: give the path of a manifest", null);
        }
        try (InputStream in = Files.newInputStream(path)) {
            return in.readNBytes(LARGEST + 1);
        }
    }

    private CommandException broken(String why, @Nullable Throwable cause) {
        return new CommandException("manifest " + origin + why, cause);
    }
}
