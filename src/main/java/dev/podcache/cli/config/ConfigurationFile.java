package dev.podcache.cli.config;

import com.google.common.collect.Comparators;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import com.google.common.collect.ImmutableSetMultimap;
import com.google.common.collect.Iterables;
import dev.podcache.cli.output.CommandException;
import dev.podcache.cli.output.EventWriter;
import dev.podcache.cli.output.ProgramEvent;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A configuration file: YAML or JSON documents, at most one of each {@link ConfigurationKind}. Unknown fields are
 * refused, as in the kubelet, because a misspelt field would have no effect.
 *
 * @param settings the fields of all documents; field names are unique across the kinds
 * @param ignored the fields that are valid for a kubelet but have no effect here
 */
record ConfigurationFile(Settings settings, ImmutableList<String> ignored) {

    /** The configuration if no file is given. */
    static final ConfigurationFile NONE = new ConfigurationFile(Settings.NONE, ImmutableList.of());

    /** In bytes. */
    static final int LARGEST = 10 << 20;

    /** The fields with a path, which is relative to the folder of the file, as for a kubelet. */
    private static final ImmutableSet<String> PATHS =
            ImmutableSet.of("staticPodPath", "tlsCertFile", "tlsPrivateKeyFile", "clientCAFile");

    /** What the endpoint does: only an authority can be chosen. */
    private static final ImmutableSetMultimap<String, Object> AUTHENTICATION =
            ImmutableSetMultimap.<String, Object>builder()
                    .put("anonymous.enabled", false)
                    .put("webhook.enabled", true)
                    .putAll("webhook.cacheTTL", "0s", "2m", "2m0s")
                    .build();

    private static final String DROP_IN = ".conf";
    private static final String REMEDY = "give the path of a file with a KubeletConfiguration";

    /**
     * Reads a file.
     *
     * @throws CommandException if the file cannot be read or is invalid; the message names the file and, if known, the
     *     line
     */
    static ConfigurationFile read(Path file) {
        return read(file, misspelt -> {
            throw misspelt;
        });
    }

    /**
     * Reads a file, without the fields that do not exist.
     *
     * @param misspelt receives the error of each of them
     * @throws CommandException if the file cannot be read or is invalid otherwise
     */
    static ConfigurationFile read(Path file, Consumer<CommandException> misspelt) {
        List<YamlDocuments.Document> documents = new YamlDocuments(file.toString()).parse(content(file));
        if (documents.isEmpty()) {
            throw unreadable(file, "is empty", null);
        }
        Map<String, Setting> settings = new LinkedHashMap<>();
        List<String> ignored = new ArrayList<>();
        Set<ConfigurationKind> kinds = EnumSet.noneOf(ConfigurationKind.class);
        for (YamlDocuments.Document document : documents) {
            ConfigurationKind kind = kind(document);
            if (!kinds.add(kind)) {
                throw document.broken(document.line(), "is a second document of " + kind + ": merge the two");
            }
            for (String name : document.fields().keySet()) {
                if (kind.ignores(name)) {
                    ignored.add(name);
                } else if (!name.equals("apiVersion") && !name.equals("kind")) {
                    Setting setting = inFolder(file, name, document.setting(name));
                    if (!kind.honours(name)) {
                        misspelt.accept(notAField(setting, kind, name));
                    } else if (!kind.isUnset(name, setting.value())) {
                        settings.put(name, setting);
                        if (name.equals(KubeletSettings.AUTHENTICATION)) {
                            addOtherAuthentication(setting.value(), ignored);
                        }
                    }
                }
            }
        }
        return new ConfigurationFile(new Settings(settings), ImmutableList.copyOf(ignored));
    }

    /** Adds the fields that ask for what the endpoint does not do. */
    private static void addOtherAuthentication(Object authentication, List<String> ignored) {
        if (authentication instanceof Map<?, ?> methods) {
            methods.forEach((method, fields) -> {
                if (fields instanceof Map<?, ?> map) {
                    map.forEach((field, value) -> {
                        String path = method + "." + field;
                        if (AUTHENTICATION.containsKey(path) && !AUTHENTICATION.containsEntry(path, value)) {
                            ignored.add(KubeletSettings.AUTHENTICATION + "." + path);
                        }
                    });
                }
            });
        }
    }

    /** Returns the setting with paths that do not depend on the working directory. */
    private static Setting inFolder(Path file, String name, Setting setting) {
        try {
            return new Setting(setting.where(), inFolder(file, name, setting.value()), setting.ofFlag());
        } catch (InvalidPathException e) {
            throw new CommandException(setting.where() + " has what cannot be the path of a file", e);
        }
    }

    private static Object inFolder(Path file, String name, Object value) {
        if (value instanceof Map<?, ?> map) {
            Map<String, Object> absolute = new LinkedHashMap<>();
            map.forEach((key, part) -> absolute.put(key.toString(), inFolder(file, key.toString(), part)));
            return absolute;
        }
        boolean isPath = PATHS.contains(name) && value instanceof String text && !text.isEmpty();
        return isPath ? file.toAbsolutePath().resolveSibling(value.toString()).toString() : value;
    }

    /**
     * Returns this configuration with the files of a folder over it, as a kubelet reads its {@code --config-dir}: those
     * whose names end in {@code .conf}, in folders below too, in the order of their names. A later field replaces an
     * earlier one; of a map, field by field.
     *
     * @throws CommandException if the folder or a file cannot be read, or a file is invalid; the message names it
     */
    ConfigurationFile withDropIns(Path folder) {
        Settings merged = settings;
        Set<String> without = new LinkedHashSet<>(ignored);
        for (Path file : dropIns(folder)) {
            ConfigurationFile next = read(file);
            merged = next.settings.mergedOver(merged);
            without.addAll(next.ignored);
        }
        return new ConfigurationFile(merged, ImmutableList.copyOf(without));
    }

    private static List<Path> dropIns(Path folder) {
        try (Stream<Path> files = Files.walk(folder)) {
            if (!Files.isDirectory(folder)) {
                throw new CommandException("--config-dir " + folder + " is a file: give a folder", null);
            }
            return files.filter(file -> file.getFileName().toString().endsWith(DROP_IN) && !Files.isDirectory(file))
                    // name by name, as a kubelet walks: a file in folder a comes before a.conf
                    .sorted(Comparator.comparing(
                            file -> Iterables.transform(file, Path::toString),
                            Comparators.lexicographical(Comparator.<String>naturalOrder())))
                    .toList();
        } catch (NoSuchFileException e) {
            throw new CommandException("--config-dir " + folder + " does not exist: give a folder", e);
        } catch (IOException | UncheckedIOException e) {
            throw new CommandException("--config-dir " + folder + " cannot be read (" + e.getMessage() + ")", e);
        }
    }

    /** Writes an event with the ignored fields, if there are any. */
    void reportIgnored(EventWriter events) {
        if (!ignored.isEmpty()) {
            events.block(new ProgramEvent(
                    "ignored",
                    "without effect here: " + String.join(", ", ignored),
                    ImmutableMap.of("fields", ignored)));
        }
    }

    private static CommandException notAField(Setting setting, ConfigurationKind kind, String name) {
        return new CommandException(
                setting.where() + " is not a field of " + kind + ": did you mean " + kind.nearest(name) + "?", null);
    }

    private static ConfigurationKind kind(YamlDocuments.Document document) {
        String apiVersion = document.text("apiVersion");
        String kind = document.text("kind");
        return ConfigurationKind.of(apiVersion, kind)
                .orElseThrow(() -> document.broken(
                        document.line(),
                        "has kind " + Setting.shown(kind) + " of apiVersion " + Setting.shown(apiVersion) + ": write "
                                + ConfigurationKind.KUBELET + ", or " + ConfigurationKind.PODCACHE));
    }

    private static byte[] content(Path file) {
        try {
            if (Files.isDirectory(file)) {
                throw unreadable(file, "is a directory", null);
            }
            if (Files.size(file) > LARGEST) {
                throw unreadable(file, "is larger than " + (LARGEST >> 20) + " MiB", null);
            }
            return Files.readAllBytes(file);
        } catch (NoSuchFileException e) {
            throw unreadable(file, "does not exist", e);
        } catch (AccessDeniedException e) {
            throw unreadable(file, "may not be read by this user", e);
        } catch (IOException e) {
            throw unreadable(file, "cannot be read (" + e.getMessage() + ")", e);
        }
    }

    private static CommandException unreadable(Path file, String why, @Nullable IOException cause) {
        return new CommandException("configuration " + file + " " + why + ": " + REMEDY, cause);
    }
}
