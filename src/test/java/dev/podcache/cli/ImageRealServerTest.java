package dev.podcache.cli;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.common.collect.ImmutableList;
import dev.podcache.testing.FreePorts;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import io.fabric8.kubernetes.api.model.Node;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * The image that {@code .ci/image} has made and unpacked: its files, its configuration, and its entry point as the user of
 * the image with a root file system that is read-only. Run by {@code .ci/image} only, as root.
 */
@RealServerTest
@Tag("image")
@EnabledIfSystemProperty(named = "podcache.image", matches = ".+")
class ImageRealServerTest {

    private static final Path IMAGE = Path.of(System.getProperty("podcache.image", ""));
    private static final Path FILES = IMAGE.resolve("files");

    /** {@code terminationGracePeriodSeconds} in {@code deploy/}. */
    private static final int GRACE_SECONDS = 10;

    private static final int USER = 65_532;
    private static final int SET_ID = 06000;
    private static final int WRITABLE_BY_OTHERS = 00002;
    private static final long MAX_MEGABYTES = 300;

    @TempDir
    private Path home;

    private final RealNode node = new RealNode(RealApiServer.shared(), "image");
    private final List<Process> started = new ArrayList<>();

    @AfterEach
    void endProcesses() throws InterruptedException {
        for (Process process : started) {
            process.destroyForcibly().waitFor();
        }
        node.close();
    }

    @Test
    void files_cannotBeChangedByTheUser_exceptInTmp() throws IOException {
        try (Stream<Path> files = Files.walk(FILES)) {
            assertThat(files.filter(file -> !Files.isSymbolicLink(file)))
                    .hasSizeGreaterThan(50)
                    .allSatisfy(file -> {
                        int mode = (int) Files.getAttribute(file, "unix:mode");
                        assertThat(mode & SET_ID).isZero();
                        assertThat((int) Files.getAttribute(file, "unix:uid")).isNotEqualTo(USER);
                        assertThat((int) Files.getAttribute(file, "unix:gid")).isNotEqualTo(USER);
                        if (!file.equals(FILES.resolve("tmp"))) {
                            assertThat(mode & WRITABLE_BY_OTHERS).isZero();
                        }
                    });
        }
    }

    @Test
    void files_haveNoShell_andOfOursOnlyTheJarAndItsArchive() throws IOException {
        assertThat(FILES.resolve("bin/sh")).doesNotExist();
        assertThat(FILES.resolve("usr/bin/sh")).doesNotExist();
        try (Stream<Path> ours = Files.walk(FILES.resolve("app"))) {
            assertThat(ours.filter(Files::isRegularFile))
                    .containsExactlyInAnyOrder(FILES.resolve("app/podcache.jar"), FILES.resolve("app/podcache.jsa"));
        }
        assertThat(FILES.resolve("app/podcache.jar")).hasSameBinaryContentAs(IMAGE.resolve("jar/podcache.jar"));
    }

    @Test
    void files_areSmall() throws IOException {
        try (Stream<Path> files = Files.walk(FILES)) {
            long bytes = files.filter(file -> Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS))
                    .mapToLong(file -> file.toFile().length())
                    .sum();

            System.out.println("the image has " + bytes / 1_000_000 + " MB");
            assertThat(bytes).isLessThan(MAX_MEGABYTES * 1_000_000);
        }
    }

    @Test
    void configurationAndArchive_haveNoPathOfTheBuild() throws IOException {
        for (Path file : List.of(IMAGE.resolve("config.json"), FILES.resolve("app/podcache.jsa"))) {
            String text = Files.readString(file, StandardCharsets.ISO_8859_1);

            assertThat(text.contains(System.getProperty("user.dir")))
                    .as(file.toString())
                    .isFalse();
            assertThat(text.contains(System.getProperty("user.home") + "/"))
                    .as(file.toString())
                    .isFalse();
        }
    }

    @Test
    void configuration_userIsNotRoot_andTheEntryPointNeedsNoShell() throws IOException {
        JsonNode configuration = configuration();

        assertThat(configuration.path("User").asText()).isEqualTo(USER + ":" + USER);
        assertThat(entryPoint()).startsWith("/usr/bin/java").endsWith(Main.class.getName());
        assertThat(configuration
                        .path("Labels")
                        .path("org.opencontainers.image.licenses")
                        .asText())
                .isEqualTo("Apache-2.0");
    }

    @Test
    void entryPoint_version_comesFromTheClassDataArchive() throws Exception {
        List<String> command = new ArrayList<>(entryPoint());
        command.add(1, "-Xlog:class+load:stdout");
        command.add("version");

        Process version = start(command);

        assertThat(version.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(version.exitValue()).as(errors()).isZero();
        assertThat(Files.readAllLines(home.resolve("out")))
                .anyMatch(line -> line.contains(Main.class.getName() + " ") && line.contains("shared objects file"))
                .anyMatch(line -> line.startsWith("podcache "));
    }

    @Test
    void run_inTheImage_becomesANode_andSucceedsWhenItIsToldToEnd() throws Exception {
        Process agent = startAgent();
        awaitReady();
        // itself, or a child of sudo
        ProcessHandle program = agent.descendants().reduce(agent.toHandle(), (parent, child) -> child);
        List<String> status = Files.readAllLines(Path.of("/proc/" + program.pid() + "/status"));

        assertThat(status).anyMatch(line -> line.matches("Uid:(\t" + USER + "){4}"));
        assertThat(status).contains("CapEff:\t0000000000000000");
        program.destroy();
        assertThat(agent.waitFor(GRACE_SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(agent.exitValue()).as(errors()).isZero();
        assertThat(errors()).doesNotContain("WARN", "ERROR", "Exception");
    }

    /** What the controller of a DaemonSet does: it deletes the pod, and creates the next one with empty volumes. */
    @Test
    void run_inTheNextContainer_isTheSameNode() throws Exception {
        Process first = startAgent();
        awaitReady();
        await().until(() -> node.lease() != null);
        Node before = node.node();
        first.destroy();
        assertThat(first.waitFor(GRACE_SECONDS, TimeUnit.SECONDS)).isTrue();

        String renewed = node.lease().getSpec().getRenewTime().toString();
        startAgent();

        await().until(() -> !node.lease().getSpec().getRenewTime().toString().equals(renewed));
        assertThat(node.node().getMetadata().getUid())
                .isEqualTo(before.getMetadata().getUid());
    }

    private Process startAgent() throws IOException {
        Files.createDirectories(home.resolve("config"));
        Path kubeconfig = home.resolve("config/kubeconfig");
        Files.deleteIfExists(kubeconfig);
        Files.copy(node.kubeconfig(), kubeconfig);
        Files.setPosixFilePermissions(kubeconfig, PosixFilePermissions.fromString("rw-r--r--"));
        Files.setPosixFilePermissions(home.resolve("config"), PosixFilePermissions.fromString("rwxr-xr-x"));
        return start(ImmutableList.<String>builder()
                .addAll(entryPoint())
                .add("run", "--hostname-override", node.name, "--kubeconfig", "/etc/podcache/kubeconfig")
                .add("--port", String.valueOf(FreePorts.find(1).get(0)))
                .build());
    }

    private Process start(List<String> program) throws IOException {
        Files.createDirectories(home.resolve("config"));
        Files.createDirectories(home.resolve("state"));
        List<String> command = new ArrayList<>(List.of(
                ".ci/in-image",
                FILES.toString(),
                home.resolve("config").toString(),
                home.resolve("state").toString()));
        command.addAll(program);
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectOutput(home.resolve("out").toFile())
                .redirectError(home.resolve("err").toFile());
        builder.environment().clear();
        configuration().path("Env").forEach(variable -> {
            String[] pair = variable.asText().split("=", 2);
            builder.environment().put(pair[0], pair[1]);
        });
        Process process = builder.start();
        started.add(process);
        return process;
    }

    private void awaitReady() {
        await().until(() -> {
            assertThat(started.get(started.size() - 1).isAlive()).as(errors()).isTrue();
            Node found = node.node();
            return found != null
                    && found.getStatus().getConditions().stream()
                            .anyMatch(condition -> condition.getType().equals("Ready")
                                    && condition.getStatus().equals("True"));
        });
    }

    private static List<String> entryPoint() throws IOException {
        List<String> words = new ArrayList<>();
        configuration().path("Entrypoint").forEach(word -> words.add(word.asText()));
        return words;
    }

    private static JsonNode configuration() throws IOException {
        return new ObjectMapper()
                .readTree(IMAGE.resolve("config.json").toFile())
                .path("config");
    }

    private String errors() {
        try {
            return Files.readString(home.resolve("err"));
        } catch (IOException e) {
            return e.toString();
        }
    }
}
