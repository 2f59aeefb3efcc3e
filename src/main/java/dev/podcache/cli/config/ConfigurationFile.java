package dev.podcache.cli.config;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import dev.podcache.cli.output.CommandException;
import dev.podcache.cli.output.EventWriter;
import dev.podcache.cli.output.ProgramEvent;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
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
                    Setting setting = document.setting(name);
                    if (!kind.honours(name)) {
                        misspelt.accept(notAField(setting, kind, name));
                    } else if (!kind.isUnset(name, setting.value())) {
                        settings.put(name, setting);
                    }
                }
            }
        }
        return new ConfigurationFile(new Settings(settings), ImmutableList.copyOf(ignored));
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
