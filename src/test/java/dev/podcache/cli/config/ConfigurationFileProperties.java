package dev.podcache.cli.config;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.collect.Range;
import dev.podcache.cli.output.CommandException;
import dev.podcache.testing.HostileJson;
import dev.podcache.testing.Slow;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.lifecycle.AfterProperty;
import net.jqwik.api.lifecycle.BeforeProperty;
import org.jspecify.annotations.NullUnmarked;

/** Files of any content: a configuration, or one line that names the file. */
@Slow
@NullUnmarked
class ConfigurationFileProperties {

    private static final byte[] JSON =
            ("{\"apiVersion\":\"kubelet.config.k8s.io/v1beta1\",\"kind\":\"KubeletConfiguration\",\"maxPods\":110,"
                            + "\"syncFrequency\":\"30s\",\"evictionHard\":{\"memory.available\":\"5%\"},\"clusterDNS\":[\"10.0.0.10\"]}")
                    .getBytes(UTF_8);
    private static final byte[] YAML = """
            apiVersion: kubelet.config.k8s.io/v1beta1
            kind: KubeletConfiguration
            maxPods: &pods 110
            syncFrequency: 30s   # a comment
            evictionHard: {memory.available: "5%"}
            clusterDNS:
            - 10.0.0.10
            registerNode: !!bool yes
            nodeStatusReportFrequency: >-
              5m
            ---
            apiVersion: podcache.dev/v1alpha1
            kind: PodcacheConfiguration
            readTimeout: 3s
            """.getBytes(UTF_8);
    private static final String HEAD = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n";

    private Path file;

    @BeforeProperty
    void makeFile() throws IOException {
        file = Files.createTempFile("podcache", ".yaml");
    }

    @AfterProperty
    void removeFile() throws IOException {
        Files.deleteIfExists(file);
    }

    @Property
    void read_mutatedYaml_isAConfigurationOrRefused(@ForAll long seed) {
        read(HostileJson.mutated(YAML, seed));
    }

    @Property
    void read_mutatedJson_isAConfigurationOrRefused(@ForAll long seed) {
        read(HostileJson.mutated(JSON, seed));
    }

    @Property
    void read_noise_isRefused(@ForAll byte[] noise) {
        assertThat(read(noise)).isEmpty();
    }

    @Example
    void read_eachValueReplaced_isAConfigurationOrRefused() {
        for (String value : HostileJson.VALUES) {
            HostileJson.withEachValueReplaced(JSON, value).forEach(this::read);
        }
    }

    @Example
    void read_nestedWithoutEnd_isRefused() {
        for (String level : new String[] {"[", "{a: ", "- ", "? ", "{? ", "!!seq [", "a:\n "}) {
            assertThat(read((HEAD + "x: \n  " + level.repeat(100_000)).getBytes(UTF_8)))
                    .as(level)
                    .isEmpty();
        }
    }

    @Example
    void read_aliasesThatMultiply_areRefused() {
        StringBuilder yaml = new StringBuilder(HEAD + "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
        for (int i = 1; i < 30; i++) {
            String before = "*a" + (i - 1);
            yaml.append("a" + i + ": &a" + i + " [" + (before + " ,").repeat(9) + before + " ]\n");
        }

        assertThat(read(yaml.toString().getBytes(UTF_8))).isEmpty();
        assertThat(read((HEAD + "a: &a [*a ]\n").getBytes(UTF_8))).isEmpty();
        assertThat(read((HEAD + "a: &a {b: *a }\n").getBytes(UTF_8))).isEmpty();
    }

    @Example
    void read_tagsOfClasses_makeNoObjects() {
        read((HEAD + "maxPods: !!java.net.URL [\"http://127.0.0.1:1/\"]\n").getBytes(UTF_8));
        read((HEAD + "maxPods: !!javax.script.ScriptEngineManager [!!java.net.URLClassLoader [[]]]\n").getBytes(UTF_8));
    }

    @Example
    void maxPods_ofAnAbsurdNumber_isRefusedAtOnce() {
        for (String number :
                new String[] {"1e999999999", "-1e999999999", "9".repeat(500_000), "0x7fffffffff", ".inf"}) {
            Optional<ConfigurationFile> read = read((HEAD + "maxPods: " + number + "\n").getBytes(UTF_8));

            read.ifPresent(file -> assertThatThrownBy(() -> file.settings().integer("maxPods", Range.atLeast(0), 110))
                    .satisfies(refused -> assertThat(refused.getMessage()).hasSizeLessThan(1000)));
        }
    }

    private Optional<ConfigurationFile> read(byte[] content) {
        try {
            Files.write(file, content);
            return Optional.of(ConfigurationFile.read(file));
        } catch (CommandException refused) {
            assertThat(refused.getMessage()).startsWith("configuration " + file);
            return Optional.empty();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
