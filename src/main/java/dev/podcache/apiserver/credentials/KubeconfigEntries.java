package dev.podcache.apiserver.credentials;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.podcache.object.Quoted;
import dev.podcache.yaml.YamlException;
import dev.podcache.yaml.YamlNode;
import dev.podcache.yaml.YamlNode.Mapping;
import dev.podcache.yaml.YamlNode.Scalar;
import dev.podcache.yaml.YamlNode.Sequence;
import dev.podcache.yaml.YamlReader;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * What stands in one file of a kubeconfig, as client-go's {@code clientcmd} reads it: every entry is checked, used or not; a
 * relative path is one from the folder of the file; of several documents the first one counts. Immutable. No {@code
 * toString} shows a value.
 *
 * @param current empty if none is chosen
 */
record KubeconfigEntries(
        String current,
        Map<String, ContextEntry> contexts,
        Map<String, ClusterEntry> clusters,
        Map<String, UserEntry> users) {

    private static final YamlReader.Limits LIMITS = new YamlReader.Limits(16 << 20, 1_000_000);
    private static final String EXEC_EXTENSION = "client.authentication.k8s.io/exec";
    private static final ObjectMapper JSON = new ObjectMapper();

    /**
     * Reads a file. Blocks.
     *
     * @param origin the flag or variable that names the file, for messages
     * @return null if there is no such file
     * @throws CredentialsException if it cannot be read or is no kubeconfig
     */
    static @Nullable KubeconfigEntries read(Path file, String origin) {
        return new KubeconfigReader(file, origin).read();
    }

    boolean isEmpty() {
        return current.isEmpty() && contexts.isEmpty() && clusters.isEmpty() && users.isEmpty();
    }

    @Override
    public String toString() {
        return "kubeconfig with current-context " + current;
    }

    /** A context; the names are empty if it has none. */
    record ContextEntry(String name, Path file, String cluster, String user, String namespace) {}

    /**
     * A cluster. Texts are empty, and data null, where nothing is given.
     *
     * @param authority the file of the authority, absolute
     * @param authorityData in base64
     * @param execConfig what {@code extensions} has for credential plugins; null for nothing
     */
    record ClusterEntry(
            String name,
            Path file,
            String server,
            @Nullable Path authority,
            @Nullable String authorityData,
            boolean insecure,
            String tlsServerName,
            String proxyUrl,
            boolean disableCompression,
            @Nullable Object execConfig) {

        @Override
        public String toString() {
            return "cluster " + name + " of " + file;
        }
    }

    /** A user. Texts are empty, and data null, where nothing is given. */
    record UserEntry(
            String name,
            Path file,
            String token,
            @Nullable Path tokenFile,
            String username,
            String password,
            CertificateEntry certificate,
            ImpersonatedUser impersonated,
            @Nullable ExecEntry exec,
            @Nullable AuthProviderEntry authProvider) {

        @Override
        public String toString() {
            return "user " + name + " of " + file;
        }
    }

    /** A client certificate and its key: a file, or data in base64, of each. */
    record CertificateEntry(
            @Nullable Path certificate,
            @Nullable String certificateData,
            @Nullable Path key,
            @Nullable String keyData) {

        boolean isNamed() {
            return certificate != null || certificateData != null;
        }

        @Override
        public String toString() {
            return "certificate " + (certificate == null ? "" : certificate);
        }
    }

    /** Whom requests act as. If {@code user} is empty, they act as the user of the credentials. */
    record ImpersonatedUser(String user, String uid, List<String> groups, Map<String, List<String>> extra) {

        static final ImpersonatedUser NOBODY = new ImpersonatedUser("", "", List.of(), Map.of());
    }

    /**
     * A credential plugin.
     *
     * @param command absolute, or to be found in the PATH
     */
    record ExecEntry(
            String apiVersion,
            String command,
            List<String> args,
            Map<String, String> env,
            String installHint,
            boolean provideClusterInfo,
            String interactiveMode) {

        @Override
        public String toString() {
            return "credential plugin " + command;
        }
    }

    /** An identity provider of the old kind. */
    record AuthProviderEntry(String name, Map<String, String> config) {

        @Override
        public String toString() {
            return "auth-provider " + name;
        }
    }

    /**
     * Replaces values in the {@code config} of a user's auth-provider where they stand, and leaves the rest of the file as it
     * is. As kubectl, it changes nothing while {@code FILE.lock} exists. Blocks.
     *
     * @param values by field; a field that the file does not have is not added
     * @return false if the file cannot be changed in this way; then it stays as it is
     */
    static boolean replaceInAuthProvider(Path file, String user, Map<String, String> values) {
        Path lock = file.resolveSibling(file.getFileName() + ".lock");
        boolean locked = false;
        try {
            Path real = file.toRealPath();
            Files.createFile(lock);
            locked = true;
            byte[] before = Files.readAllBytes(real);
            String after = replaced(before, user, values);
            if (after == null) {
                return false;
            }
            replace(real, after.getBytes(StandardCharsets.UTF_8));
            return true;
        } catch (IOException | YamlException | UnsupportedOperationException e) {
            return false;
        } finally {
            if (locked) {
                lock.toFile().delete();
            }
        }
    }

    /** Whoever reads the file meanwhile sees the old content or the new one. */
    private static void replace(Path file, byte[] content) throws IOException {
        Path written = Files.createTempFile(file.toAbsolutePath().getParent(), ".kubeconfig", ".new");
        try {
            Files.setPosixFilePermissions(written, Files.getPosixFilePermissions(file));
            Files.write(written, content);
            Files.move(written, file, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(written);
        }
    }

    private static @Nullable String replaced(byte[] before, String user, Map<String, String> values)
            throws IOException {
        String text = new String(before, StandardCharsets.UTF_8);
        List<YamlNode> documents = YamlReader.read(before, LIMITS);
        Mapping config = documents.isEmpty() ? null : authProviderConfig(documents.get(0), user);
        if (config == null || !Arrays.equals(before, text.getBytes(StandardCharsets.UTF_8))) {
            return null;
        }
        NavigableMap<Integer, Map.Entry<String, String>> places = new TreeMap<>(); // old and new value by offset
        for (Map.Entry<String, String> value : values.entrySet()) {
            if (config.field(value.getKey()) instanceof Scalar scalar) {
                places.put(offset(text, scalar), Map.entry(scalar.text(), value.getValue()));
            }
        }
        StringBuilder changed = new StringBuilder(text);
        // from the end, so that the places before stay
        for (Map.Entry<Integer, Map.Entry<String, String>> place :
                places.descendingMap().entrySet()) {
            int start = place.getKey();
            int length = length(text, start, place.getValue().getKey());
            if (length < 0) {
                return null;
            }
            // a text of JSON is one of YAML too
            changed.replace(
                    start,
                    start + length,
                    JSON.writeValueAsString(place.getValue().getValue()));
        }
        return changed.toString();
    }

    private static @Nullable Mapping authProviderConfig(YamlNode document, String user) {
        if (document instanceof Mapping map && map.field("users") instanceof Sequence users) {
            for (YamlNode element : users.elements()) {
                if (element instanceof Mapping entry
                        && entry.field("name") instanceof Scalar name
                        && name.text().equals(user)) {
                    return entry.field("user") instanceof Mapping fields
                                    && fields.field("auth-provider") instanceof Mapping provider
                                    && provider.field("config") instanceof Mapping config
                            ? config
                            : null;
                }
            }
        }
        return null;
    }

    private static int offset(String text, Scalar scalar) {
        int at = 0;
        for (int line = 1; line < scalar.line(); line++) {
            int end = text.indexOf('\n', at);
            if (end < 0) {
                return text.length();
            }
            at = end + 1;
        }
        int left = text.codePointCount(at, text.length());
        return text.offsetByCodePoints(at, Math.min(scalar.column() - 1, left));
    }

    /** Returns the length of a value as it is written, on one line; -1 if it is written in another way. */
    private static int length(String text, int at, String value) {
        for (String quote : List.of("\"", "'", "")) {
            if (text.startsWith(quote + value + quote, at)) {
                return value.length() + 2 * quote.length();
            }
        }
        return -1;
    }

    /** Reads a file. */
    private static final class KubeconfigReader {

        private final Path file;
        private final String origin;

        KubeconfigReader(Path file, String origin) {
            this.file = file;
            this.origin = origin;
        }

        @Nullable
        KubeconfigEntries read() {
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
                return new KubeconfigEntries("", Map.of(), Map.of(), Map.of());
            }
            if (!(first instanceof Mapping map)) {
                throw broken("is not a kubeconfig: it must be YAML with clusters, users and contexts");
            }
            EntryFields fields = new EntryFields(map, "");
            requireOneOf(fields, "kind", "Config");
            requireOneOf(fields, "apiVersion", "v1");
            return new KubeconfigEntries(
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

        private CredentialsException broken(String why) {
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
                    throw broken(
                            "has " + Quoted.value(name) + " twice among its " + list + ": remove one, or rename it");
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
}
