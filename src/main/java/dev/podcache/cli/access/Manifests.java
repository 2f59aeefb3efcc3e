package dev.podcache.cli.access;

import com.google.common.collect.ImmutableList;
import dev.podcache.cli.output.CommandException;
import dev.podcache.yaml.YamlException;
import dev.podcache.yaml.YamlNode;
import dev.podcache.yaml.YamlReader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads the documents of a manifest: YAML or JSON, from a file or from standard input. */
final class Manifests {

    private static final YamlReader.Limits LIMITS = new YamlReader.Limits(32 << 20, 5_000_000);

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
        return manifests.parsed(manifests.content(file, standardInput));
    }

    private ImmutableList<Map<?, ?>> parsed(byte[] content) {
        ImmutableList.Builder<Map<?, ?>> documents = ImmutableList.builder();
        try {
            for (YamlNode document : YamlReader.read(content, LIMITS)) {
                if (document.value() instanceof Map<?, ?> map) {
                    documents.add(map);
                }
            }
        } catch (YamlException e) {
            throw broken(" " + e.getMessage(), e);
        }
        return documents.build();
    }

    private byte[] content(String file, InputStream standardInput) {
        try {
            byte[] bytes = file.equals("-") ? standardInput.readNBytes(LIMITS.bytes() + 1) : ofFile(Path.of(file));
            if (bytes.length > LIMITS.bytes()) {
                throw broken(" is larger than " + (LIMITS.bytes() >> 20) + " MiB: give a part of it", null);
            }
            return bytes;
        } catch (NoSuchFileException e) {
            throw broken(" does not exist: give the path of a manifest, or - for standard input", e);
        } catch (IOException e) {
            throw broken(" cannot be read (" + e.getMessage() + "): give the path of a readable manifest", e);
        }
    }

    private byte[] ofFile(Path path) throws IOException {
        if (Files.isDirectory(path)) {
            throw broken(" is a directory: give the path of a manifest", null);
        }
        try (InputStream in = Files.newInputStream(path)) {
            return in.readNBytes(LIMITS.bytes() + 1);
        }
    }

    private CommandException broken(String why, @Nullable Throwable cause) {
        return new CommandException("manifest " + origin + why, cause);
    }
}
