package dev.podcache.apiserver.credentials;

import dev.podcache.apiserver.credentials.KubeconfigEntries.AuthProviderEntry;
import dev.podcache.apiserver.credentials.KubeconfigEntries.CertificateEntry;
import dev.podcache.apiserver.credentials.KubeconfigEntries.ClusterEntry;
import dev.podcache.apiserver.credentials.KubeconfigEntries.ContextEntry;
import dev.podcache.apiserver.credentials.KubeconfigEntries.ExecEntry;
import dev.podcache.apiserver.credentials.KubeconfigEntries.ImpersonatedUser;
import dev.podcache.apiserver.credentials.KubeconfigEntries.UserEntry;
import dev.podcache.object.Quoted;
import dev.podcache.yaml.YamlException;
import dev.podcache.yaml.YamlNode;
import dev.podcache.yaml.YamlNode.Mapping;
import dev.podcache.yaml.YamlNode.Scalar;
import dev.podcache.yaml.YamlNode.Sequence;
import dev.podcache.yaml.YamlReader;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * Reads one file of a kubeconfig, as client-go's {@code clientcmd} does: every entry is checked, used or not; a relative
 * path is one from the folder of the file; of several documents the first one counts. Used by one thread.
 */
final class KubeconfigReader {

    private static final YamlReader.Limits LIMITS = new YamlReader.Limits(16 << 20, 1_000_000);
    private static final String EXEC_EXTENSION = "client.authentication.k8s.io/exec";

    private final Path file;
    private final String origin;

    /**
     * What stands in a file.
     *
     * @param current empty if none is chosen
     */
    record FileEntries(
            String current,
            Map<String, ContextEntry> contexts,
            Map<String, ClusterEntry> clusters,
            Map<String, UserEntry> users) {

        boolean isEmpty() {
            return current.isEmpty() && contexts.isEmpty() && clusters.isEmpty() && users.isEmpty();
        }
    }

    /** @param origin the flag or variable that names the file, for messages */
    KubeconfigReader(Path file, String origin) {
        this.file = file;
        this.origin = origin;
    }

    /**
     * Reads the file. Blocks.
     *
     * @return null if there is no such file
     * @throws CredentialsException if it cannot be read or is no kubeconfig
     */
    @Nullable
    FileEntries read() {
        byte[] text = bytes();
        if (text == null) {
            return null;
        }
        List<YamlNode> documents;
        try {
            documents = YamlReader.read(text, LIMITS);
        } catch (YamlException e) {
            throw String.valueOf(e.getMessage()).contains("it is not text")
                    ? broken("is not a kubeconfig: it is not text")
                    : broken("is not a kubeconfig: it must be YAML with clusters, users and contexts; "
                            + e.getMessage());
        }
        YamlNode first = documents.isEmpty() ? null : documents.get(0);
        if (first == null || (first instanceof Scalar scalar && scalar.isNull())) {
            return new FileEntries("", Map.of(), Map.of(), Map.of());
        }
        if (!(first instanceof Mapping map)) {
            throw broken("is not a kubeconfig: it must be YAML with clusters, users and contexts");
        }
        EntryFields fields = new EntryFields(map, "");
        requireOneOf(fields, "kind", "Config");
        requireOneOf(fields, "apiVersion", "v1");
        return new FileEntries(
                fields.text("current-context"),
                named(fields, "contexts", "context", this::context),
                named(fields, "clusters", "cluster", this::cluster),
                named(fields, "users", "user", this::user));
    }

    private byte @Nullable [] bytes() {
        if (Files.exists(file) && !Files.isRegularFile(file) && !Files.isDirectory(file)) {
            throw broken("is not a regular file, and is read more than once: write it to a file");
        }
        try {
            return Files.readAllBytes(file);
        } catch (NoSuchFileException e) {
            return null;
        } catch (IOException e) {
            throw broken(
                    Files.isDirectory(file)
                            ? "is a directory: give the path of a file"
                            : "cannot be read (" + e.getClass().getSimpleName() + "): check its permissions");
        }
    }

    CredentialsException broken(String why) {
        return new CredentialsException("kubeconfig " + file + " (from " + origin + ") " + why);
    }

    private void requireOneOf(EntryFields fields, String name, String expected) {
        String value = fields.text(name);
        if (!value.isEmpty() && !value.equals(expected)) {
            throw broken("is not a kubeconfig: its " + name + " must be " + expected);
        }
    }

    /** Reads a list of entries, each with its name. */
    private <E> Map<String, E> named(
            EntryFields all, String list, String entry, BiFunction<String, EntryFields, E> made) {
        Map<String, E> entries = new LinkedHashMap<>();
        for (YamlNode element : all.list(list)) {
            EntryFields fields = all.map(element, list);
            String name = fields.text("name");
            EntryFields inner = fields.map(entry, list + " " + Quoted.value(name) + ", ");
            if (entries.putIfAbsent(name, made.apply(name, inner)) != null) {
                throw broken("has " + Quoted.value(name) + " twice among its " + list + ": remove one, or rename it");
            }
        }
        return entries;
    }

    private ContextEntry context(String name, EntryFields fields) {
        return new ContextEntry(name, file, fields.text("cluster"), fields.text("user"), fields.text("namespace"));
    }

    private ClusterEntry cluster(String name, EntryFields fields) {
        Object execConfig = null;
        for (YamlNode element : fields.list("extensions")) {
            EntryFields extension = fields.map(element, "extensions");
            if (extension.text("name").equals(EXEC_EXTENSION)) {
                execConfig = extension.value("extension");
            }
        }
        return new ClusterEntry(
                name,
                file,
                fields.text("server"),
                fields.path("certificate-authority"),
                fields.data("certificate-authority-data"),
                fields.flag("insecure-skip-tls-verify"),
                fields.text("tls-server-name"),
                fields.text("proxy-url"),
                fields.flag("disable-compression"),
                execConfig);
    }

    private UserEntry user(String name, EntryFields fields) {
        Mapping exec = fields.mapping("exec");
        Mapping provider = fields.mapping("auth-provider");
        return new UserEntry(
                name,
                file,
                fields.text("token"),
                fields.path("tokenFile"),
                fields.text("username"),
                fields.text("password"),
                new CertificateEntry(
                        fields.path("client-certificate"),
                        fields.data("client-certificate-data"),
                        fields.path("client-key"),
                        fields.data("client-key-data")),
                impersonated(fields),
                exec == null ? null : exec(fields.in(exec, "exec")),
                provider == null ? null : provider(fields.in(provider, "auth-provider")));
    }

    private static ImpersonatedUser impersonated(EntryFields fields) {
        Map<String, List<String>> extra = new LinkedHashMap<>();
        Mapping given = fields.mapping("as-user-extra");
        if (given != null) {
            EntryFields values = fields.in(given, "as-user-extra");
            given.fields().keySet().forEach(key -> extra.put(key, values.texts(key)));
        }
        return new ImpersonatedUser(fields.text("as"), fields.text("as-uid"), fields.texts("as-groups"), extra);
    }

    private ExecEntry exec(EntryFields fields) {
        Map<String, String> env = new LinkedHashMap<>();
        for (YamlNode element : fields.list("env")) {
            EntryFields variable = fields.map(element, "env");
            env.put(variable.text("name"), variable.text("value"));
        }
        String command = fields.text("command");
        return new ExecEntry(
                fields.text("apiVersion"),
                command.contains(File.separator)
                        ? resolved(command, "exec.command").toString()
                        : command,
                fields.texts("args"),
                env,
                fields.text("installHint"),
                fields.flag("provideClusterInfo"),
                fields.text("interactiveMode"));
    }

    private static AuthProviderEntry provider(EntryFields fields) {
        Map<String, String> config = new LinkedHashMap<>();
        Mapping given = fields.mapping("config");
        if (given != null) {
            EntryFields values = fields.in(given, "config");
            given.fields().keySet().forEach(key -> config.put(key, values.text(key)));
        }
        return new AuthProviderEntry(fields.text("name"), config);
    }

    private Path resolved(String path, String field) {
        try {
            return file.toAbsolutePath().resolveSibling(path).normalize();
        } catch (InvalidPathException e) {
            throw broken("has a " + field + " that is not a path: correct it");
        }
    }

    /** The fields of a map, by the types that they must have. A field without a value is as one that is missing. */
    private final class EntryFields {

        private final Mapping map;
        private final String where;

        EntryFields(Mapping map, String where) {
            this.map = map;
            this.where = where;
        }

        EntryFields in(Mapping inner, String name) {
            return new EntryFields(inner, where + name + ".");
        }

        EntryFields map(YamlNode element, String name) {
            if (element instanceof Scalar scalar && scalar.isNull()) {
                return new EntryFields(new Mapping(Map.of(), Map.of(), element.line(), element.column()), where);
            }
            if (element instanceof Mapping found) {
                return new EntryFields(found, where + name + ".");
            }
            throw ill(element, name, "must have maps of fields in it");
        }

        EntryFields map(String name, String whereInside) {
            Mapping found = mapping(name);
            return new EntryFields(
                    found == null ? new Mapping(Map.of(), Map.of(), map.line(), map.column()) : found, whereInside);
        }

        @Nullable
        Mapping mapping(String name) {
            YamlNode field = map.field(name);
            if (field == null || field instanceof Mapping) {
                return (Mapping) field;
            }
            throw ill(field, name, "must be a map of fields");
        }

        List<YamlNode> list(String name) {
            YamlNode field = map.field(name);
            if (field == null) {
                return List.of();
            }
            if (field instanceof Sequence sequence) {
                return sequence.elements();
            }
            throw ill(field, name, "must be a list");
        }

        List<String> texts(String name) {
            List<String> texts = new ArrayList<>();
            list(name).forEach(element -> texts.add(text(element, name)));
            return List.copyOf(texts);
        }

        String text(String name) {
            YamlNode field = map.field(name);
            return field == null ? "" : text(field, name);
        }

        private String text(YamlNode node, String name) {
            if (node instanceof Scalar scalar) {
                if (scalar.isNull()) {
                    return "";
                }
                if (scalar.content() instanceof String text) {
                    return text;
                }
            }
            throw ill(node, name, "must be text: put it in quotation marks");
        }

        boolean flag(String name) {
            YamlNode field = map.field(name);
            if (field == null) {
                return false;
            }
            if (field instanceof Scalar scalar && scalar.content() instanceof Boolean flag) {
                return flag;
            }
            throw ill(field, name, "must be true or false, without quotation marks");
        }

        @Nullable
        Path path(String name) {
            String path = text(name);
            return path.isEmpty() ? null : resolved(path, where + name);
        }

        /** Returns base64 without the line breaks, which Go passes over too; null if there is none. */
        @Nullable
        String data(String name) {
            String text = text(name).replaceAll("[\r\n]", "");
            if (text.isEmpty()) {
                return null;
            }
            try {
                if (text.length() % 4 == 0 && Base64.getDecoder().decode(text).length > 0) {
                    return text;
                }
            } catch (IllegalArgumentException noBase64) {
                // refused below, without what the message quotes
            }
            throw ill(
                    map,
                    name,
                    "is not base64: encode the file with `base64 -w0`, or name the file instead of its data");
        }

        @Nullable
        Object value(String name) {
            YamlNode field = map.field(name);
            return field == null ? null : field.value();
        }

        private CredentialsException ill(YamlNode at, String name, String why) {
            return broken("line " + at.line() + ": " + where + name + " " + why);
        }
    }
}
