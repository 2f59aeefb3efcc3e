package dev.podcache.documentation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.base.Splitter;
import dev.podcache.cli.Arguments;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The commands in the documentation name options, goals, profiles, classes and files that exist. */
class CommandsTest {

    private static final Pattern INLINE = Pattern.compile("`((?:(?:mvn|java -jar|podcache) |\\.ci/\\w)[^`]*)`");
    private static final Pattern PROFILE = Pattern.compile("<profile>\\s*<id>([\\w-]+)</id>");
    private static final Pattern OUR_FILE = Pattern.compile("(?:deploy|src|docs|\\.ci)/[^\\s.]\\S*");

    private static final Set<String> MAVEN_FLAGS = Set.of("-q", "-B", "-o");
    private static final Set<String> MAVEN_PHASES =
            Set.of("clean", "compile", "test-compile", "test", "package", "verify", "install", "deploy");

    /** Properties that Maven's own plugins read. */
    private static final Set<String> PLUGIN_PROPERTIES =
            Set.of("altDeploymentRepository", "skipTests", "test", "exec.args");

    private static final Set<String> KUBECTL_COMMANDS = Set.of(
            "apply",
            "certificate",
            "config",
            "create",
            "delete",
            "get",
            "label",
            "proxy",
            "rollout",
            "scale",
            "--kubeconfig");

    /** Programs whose arguments are not checked but for names of our files. */
    private static final Set<String> OTHERS = Set.of("base64", "curl", "head", "kind", "kubeadm", "openssl", "sed");

    static List<Path> documents() {
        return Documents.all().stream()
                .filter(document -> !commands(document).isEmpty())
                .toList();
    }

    private static List<ShellCommand> commands(Path document) {
        List<ShellCommand> commands = new ArrayList<>();
        Documents.blocks(document, "sh").forEach(block -> commands.addAll(ShellCommand.parse(block)));
        INLINE.matcher(Documents.prose(document))
                .results()
                .forEach(inline -> commands.addAll(ShellCommand.parse(inline.group(1))));
        return commands;
    }

    @ParameterizedTest
    @MethodSource("documents")
    void commands_nameWhatExists(Path document) {
        assertThat(commands(document)).allSatisfy(CommandsTest::requireWorks);
    }

    @Test
    void readme_hasTheTwoCommandsForEverything() {
        assertThat(commands(Documents.README).stream().map(ShellCommand::toString))
                .contains("mvn -q compile exec:java", "mvn verify");
    }

    @Test
    void gettingStarted_commandsOfEachKind_areFound() {
        assertThat(commands(Path.of("docs/getting-started.md")).stream().map(ShellCommand::name))
                .contains("mvn", "java", "podcache", "kubectl", "openssl", "base64", "kind");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "podcache demo --fro 15s",
                "podcache danse",
                "java -jar target/podcache.jar demo",
                "mvn -q compile exec:jaba",
                "mvn -Pfasst verify",
                "mvn verify -Dtest=NoSuchTest",
                "mvn verify -Dno.such.property=1",
                "mvn -q compile exec:java -Dexec.args='demo --fro 15s'",
                "mvn -Pjmh verify -Djmh.main=dev.podcache.NoSuchRun",
                "kubectl apply -f deploy/no-such-file.yaml",
                "kubectl aply -f deploy/examples/rbac-agent.yaml",
                ".ci/no-such-script",
                "unknown-program"
            })
    void requireWorks_mistake_isNoticed(String mistaken) {
        ShellCommand command = ShellCommand.parse(mistaken).get(0);

        assertThatThrownBy(() -> requireWorks(command)).isInstanceOf(AssertionError.class);
    }

    private static void requireWorks(ShellCommand command) {
        for (String word : command.words()) {
            if (OUR_FILE.matcher(word).matches()) {
                assertThat(Path.of(word)).exists();
            }
        }
        switch (command.name()) {
            case "podcache" -> requireAccepted(command.arguments());
            case "java" -> requireRunsOurJar(command.arguments());
            case "mvn" -> command.arguments().forEach(CommandsTest::requireMaven);
            case "kubectl" ->
                assertThat(KUBECTL_COMMANDS).contains(command.arguments().get(0));
            case "alias" -> requireWorks(aliased(command));
            default ->
                assertThat(OTHERS.contains(command.name())
                                || OUR_FILE.matcher(command.name()).matches())
                        .isTrue();
        }
    }

    private static ShellCommand aliased(ShellCommand alias) {
        String definition = alias.arguments().get(0);
        String command = definition.substring(definition.indexOf('=') + 1).replace("$PWD/", "");
        return ShellCommand.parse(command).get(0);
    }

    private static void requireAccepted(List<String> arguments) {
        assertThatCode(() -> Arguments.requireAccepted(arguments.toArray(new String[0])))
                .doesNotThrowAnyException();
    }

    private static void requireRunsOurJar(List<String> arguments) {
        assertThat(arguments).startsWith("-jar", "target/podcache-" + version() + "-cli.jar");
        requireAccepted(arguments.subList(2, arguments.size()));
    }

    private static String version() {
        String afterArtifact = pom().substring(pom().indexOf("<artifactId>podcache</artifactId>"));
        return afterArtifact.substring(afterArtifact.indexOf("<version>") + 9, afterArtifact.indexOf("</version>"));
    }

    private static String pom() {
        return Documents.text(Path.of("pom.xml"));
    }

    private static void requireMaven(String argument) {
        if (argument.startsWith("-P")) {
            assertThat(PROFILE.matcher(pom()).results().map(found -> found.group(1)))
                    .contains(argument.substring(2));
        } else if (argument.startsWith("-D")) {
            List<String> property = Splitter.on('=').limit(2).splitToList(argument.substring("-D".length()));
            requireProperty(property.get(0), property.size() > 1 ? property.get(1) : "");
        } else if (argument.startsWith("-")) {
            assertThat(MAVEN_FLAGS).contains(argument);
        } else if (argument.contains(":")) {
            requireGoal(argument.substring(0, argument.indexOf(':')), argument.substring(argument.indexOf(':') + 1));
        } else {
            assertThat(MAVEN_PHASES).contains(argument);
        }
    }

    private static void requireGoal(String prefix, String goal) {
        assertThat(pom()).contains("<artifactId>" + prefix + "-maven-plugin</artifactId>");
        assertThat(Set.of("exec:java", "spotless:apply")).contains(prefix + ":" + goal);
    }

    private static void requireProperty(String key, String value) {
        if (!PLUGIN_PROPERTIES.contains(key)) {
            assertThat(pom().contains("<" + key + ">") || isReadByTests(key))
                    .as("%s is read", key)
                    .isTrue();
        }
        switch (key) {
            case "test" -> assertThat(sources("src/test/java", value + ".java")).isNotEmpty();
            case "exec.args" -> requireAccepted(Splitter.on(' ').splitToList(value));
            case "jmh.main" ->
                assertThat(Path.of("src/jmh/java", value.replace('.', '/') + ".java"))
                        .exists();
            case "jmh.args" ->
                Arrays.stream(value.split(" "))
                        .filter(word -> OUR_FILE.matcher(word).matches())
                        .forEach(file -> assertThat(Path.of(file)).exists());
            default -> {}
        }
    }

    private static boolean isReadByTests(String key) {
        return sources("src/test/java", ".java").stream()
                .filter(source -> !source.endsWith("CommandsTest.java"))
                .anyMatch(source -> Documents.text(source).contains("\"" + key + "\""));
    }

    private static List<Path> sources(String folder, String ending) {
        try (Stream<Path> files = Files.walk(Path.of(folder))) {
            return files.filter(file -> file.toString().endsWith(ending)).toList();
        } catch (IOException e) {
            throw new AssertionError(folder, e);
        }
    }
}
