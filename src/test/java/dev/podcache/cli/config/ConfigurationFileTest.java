package dev.podcache.cli.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.cli.output.CommandException;
import dev.podcache.kubelet.agent.KubeletConfiguration;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ConfigurationFileTest {

    private static final String KUBELET = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n";
    private static final String PODCACHE = "apiVersion: podcache.dev/v1alpha1\nkind: PodcacheConfiguration\n";

    @TempDir
    private Path directory = Path.of("");

    @Test
    void read_yaml_hasTheFieldWithItsPlace() throws IOException {
        Path file = write(KUBELET + "# a comment\nmaxPods: -3\n");

        Setting setting =
                Objects.requireNonNull(ConfigurationFile.read(file).settings().find("maxPods"));

        assertThat(setting.refused("more"))
                .hasMessage("configuration " + file + " line 4: maxPods is -3: it must be more");
    }

    @Test
    void withDropIns_filesInTheOrderOfTheirNames_overrideFieldByField() throws IOException {
        Path folder = Files.createDirectories(directory.resolve("conf.d"));
        Files.createDirectories(folder.resolve("20"));
        Files.writeString(
                folder.resolve("10-a.conf"), KUBELET + "maxPods: 1\nsystemReserved: {cpu: 100m, memory: 1Gi}\n");
        Files.writeString(folder.resolve("20").resolve("z.conf"), KUBELET + "maxPods: 2\nsyncFrequency: 20s\n");
        Files.writeString(
                folder.resolve("20.conf"),
                KUBELET + "systemReserved: {memory: 2Gi}\nregisterWithTaints: []\nsyncFrequency: 0s\n");
        Files.writeString(folder.resolve("99.yaml"), "no configuration");

        Settings settings = ConfigurationFile.read(
                        write(KUBELET + "maxPods: 110\npodPidsLimit: 5\nregisterWithTaints: [a]\n"))
                .withDropIns(folder)
                .settings();

        assertThat(settings.find("maxPods")).extracting(Setting::value).hasToString("2");
        assertThat(settings.map("systemReserved", reserved -> reserved, Map.of()))
                .isEqualTo(Map.of("cpu", "100m", "memory", "2Gi"));
        // a list is replaced as a whole; a zero is no value
        assertThat(Objects.requireNonNull(settings.find("registerWithTaints")).value())
                .isEqualTo(List.of());
        assertThat(settings.duration("syncFrequency", Duration.ZERO)).isEqualTo(Duration.ofSeconds(20));
        assertThat(Objects.requireNonNull(settings.find("maxPods")).where())
                .startsWith("configuration " + folder.resolve("20").resolve("z.conf") + " line 3");
    }

    @Test
    void withDropIns_crashLoopBackOff_isTakenFromThereAndRefusedByItsFile() throws IOException {
        Path folder = Files.createDirectories(directory.resolve("conf.d"));
        Path dropIn = folder.resolve("10.conf");
        Files.writeString(dropIn, KUBELET + "crashLoopBackOff:\n  maxContainerRestartPeriod: 30s\n");
        ConfigurationFile file =
                ConfigurationFile.read(write(KUBELET + "crashLoopBackOff: {maxContainerRestartPeriod: 2m}\n"));

        Settings settings = file.withDropIns(folder).settings();

        assertThat(KubeletSettings.configuration(settings, Settings.NONE)
                        .restarts()
                        .longest())
                .isEqualTo(Duration.ofSeconds(30));
        Files.writeString(dropIn, KUBELET + "crashLoopBackOff:\n  maxContainerRestartPeriod: 6m\n");
        assertThatThrownBy(() ->
                        KubeletSettings.configuration(file.withDropIns(folder).settings(), Settings.NONE))
                .hasMessage("configuration " + dropIn + " line 4: crashLoopBackOff: maxContainerRestartPeriod must be"
                        + " from 1s to 5m0s, but is 6m0s");
    }

    @Test
    void read_relativePath_isFromTheFolderOfItsFile() throws IOException {
        Path folder = Files.createDirectories(directory.resolve("conf.d"));
        Files.writeString(folder.resolve("10.conf"), KUBELET + "tlsPrivateKeyFile: node.key\n");
        ConfigurationFile file = ConfigurationFile.read(write(KUBELET
                + "staticPodPath: manifests\ntlsCertFile: pki/node.crt\ntlsPrivateKeyFile: /node.key\n"
                + "authentication: {x509: {clientCAFile: ca.crt}}\nproviderID: here\n"));

        KubeletConfiguration configuration =
                KubeletSettings.configuration(file.withDropIns(folder).settings(), Settings.NONE);

        assertThat(configuration.staticPods().orElseThrow().path()).isEqualTo(directory.resolve("manifests"));
        assertThat(configuration.endpoint().certificate())
                .isEqualTo(directory.resolve("pki/node.crt").toString());
        assertThat(configuration.endpoint().key())
                .isEqualTo(folder.resolve("node.key").toString());
        assertThat(configuration.endpoint().clientAuthority())
                .isEqualTo(directory.resolve("ca.crt").toString());
        assertThat(configuration.registration().providerId()).isEqualTo("here");
        assertThat(file.settings().text("tlsPrivateKeyFile", "")).isEqualTo("/node.key");
    }

    @Test
    void read_pathThatNoFileCanHave_isRefusedWithItsLine() throws IOException {
        Path file = write(KUBELET + "tlsCertFile: \"a\\0b\"\n");

        assertThatThrownBy(() -> ConfigurationFile.read(file))
                .isInstanceOf(CommandException.class)
                .hasMessage("configuration " + file + " line 3: tlsCertFile has what cannot be the path of a file");
    }

    @Test
    void withDropIns_noFiles_isTheFileAlone() throws IOException {
        Path folder = Files.createDirectories(directory.resolve("conf.d"));
        ConfigurationFile file = ConfigurationFile.read(write(KUBELET + "maxPods: 7\npodPidsLimit: 5\n"));

        assertThat(file.withDropIns(folder)).isEqualTo(file);
        assertThat(ConfigurationFile.NONE.withDropIns(folder)).isEqualTo(ConfigurationFile.NONE);
    }

    @Test
    void withDropIns_cannotBeRead_namesWhatAndWhy() throws IOException {
        Path folder = Files.createDirectories(directory.resolve("conf.d"));
        Path broken = Files.writeString(folder.resolve("a.conf"), "maxPods: 1\n");

        assertThatThrownBy(() -> ConfigurationFile.NONE.withDropIns(directory.resolve("nope")))
                .isInstanceOf(CommandException.class)
                .hasMessage("--config-dir " + directory.resolve("nope") + " does not exist: give a folder");
        assertThatThrownBy(() -> ConfigurationFile.NONE.withDropIns(broken))
                .isInstanceOf(CommandException.class)
                .hasMessage("--config-dir " + broken + " is a file: give a folder");
        assertThatThrownBy(() -> ConfigurationFile.NONE.withDropIns(folder))
                .isInstanceOf(CommandException.class)
                .hasMessageStartingWith("configuration " + broken);
    }

    @Test
    void read_json_isTheSame() throws IOException {
        Path file = write("""
                {
                \t"kind": "KubeletConfiguration",
                \t"apiVersion": "kubelet.config.k8s.io/v1beta1",
                \t"syncFrequency": "30s"
                }
                """);

        assertThat(ConfigurationFile.read(file).settings().duration("syncFrequency", Duration.ZERO))
                .isEqualTo(Duration.ofSeconds(30));
    }

    @Test
    void read_twoDocuments_hasTheFieldsOfBoth() throws IOException {
        Settings settings = ConfigurationFile.read(
                        write("---\n" + KUBELET + "syncFrequency: 2m\n---\n" + PODCACHE + "readTimeout: 3s\n---\n"))
                .settings();

        assertThat(settings.duration("syncFrequency", Duration.ZERO)).isEqualTo(Duration.ofMinutes(2));
        assertThat(settings.duration("readTimeout", Duration.ZERO)).isEqualTo(Duration.ofSeconds(3));
    }

    @Test
    void read_fieldsOfTheKubeletAlone_areListedAsIgnored() throws IOException {
        ConfigurationFile file = ConfigurationFile.read(write(KUBELET
                + "cgroupDriver: systemd\nmaxPods: 5\nauthorization: {mode: Webhook}\nlogging: {format: json}\n"
                + "podPidsLimit: 100\nreadOnlyPort: 10255\neventRecordQPS: 5\nnodeStatusMaxImages: 10\n"
                + "kernelMemcgNotification: true\n"));

        assertThat(file.ignored())
                .containsExactly(
                        "cgroupDriver",
                        "authorization",
                        "logging",
                        "podPidsLimit",
                        "readOnlyPort",
                        "eventRecordQPS",
                        "nodeStatusMaxImages",
                        "kernelMemcgNotification");
    }

    @ParameterizedTest
    @CsvSource({
        "maxPod, maxPods",
        "maxpods, maxPods",
        "syncFrequncy, syncFrequency",
        "kubeAPIQps, kubeAPIQPS",
        "evictionHart, evictionHard",
        "clusterDns, clusterDNS",
        "configMapAndSecretDetectionStrategy, configMapAndSecretChangeDetectionStrategy"
    })
    void read_misspeltField_isRefusedWithItsLineAndTheNearestName(String written, String meant) throws IOException {
        Path file = write(KUBELET + "port: 10250\n" + written + ": 1\n");

        assertThatThrownBy(() -> ConfigurationFile.read(file))
                .isInstanceOf(CommandException.class)
                .hasMessage("configuration " + file + " line 4: " + written
                        + " is not a field of kind KubeletConfiguration of apiVersion kubelet.config.k8s.io/v1beta1: did you mean "
                        + meant + "?");
    }

    @Test
    void read_fieldOfTheOtherDocument_isRefused() throws IOException {
        refuses(PODCACHE + "maxPods: 5\n", "line 3: maxPods is not a field of kind PodcacheConfiguration");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "syncFrequency: 0s",
                "syncFrequency: '0'",
                "maxPods: 0",
                "configMapAndSecretChangeDetectionStrategy: ''",
                "nodeLeaseDurationSeconds: 0",
                "evictionHard:",
                "maxPods: null",
                "syncFrequency: ~"
            })
    void read_zeroOrNothing_isAsIfItWereNotWritten(String line) throws IOException {
        Settings settings = ConfigurationFile.read(write(KUBELET + line + "\n")).settings();

        assertThat(KubeletSettings.configuration(settings, Settings.NONE))
                .usingRecursiveComparison()
                .isEqualTo(KubeletSettings.configuration(Settings.NONE, Settings.NONE));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "\n\n", "# nothing yet\n", "---\n---\n", "null\n"})
    void read_emptyFile_isRefused(String text) throws IOException {
        refuses(text, "is empty: give the path of a file with a KubeletConfiguration");
    }

    @Test
    void read_otherKind_isRefusedWithThoseThatThereAre() throws IOException {
        refuses(
                "apiVersion: kubelet.config.k8s.io/v1\nkind: CredentialProviderConfig\n",
                "line 1: has kind \"CredentialProviderConfig\" of apiVersion \"kubelet.config.k8s.io/v1\": write kind"
                        + " KubeletConfiguration of apiVersion kubelet.config.k8s.io/v1beta1, or kind PodcacheConfiguration of"
                        + " apiVersion podcache.dev/v1alpha1");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "kubelet.config.k8s.io/v1alpha1 | KubeletConfiguration",
                "podcache.dev/v1alpha1 | KubeletConfiguration",
                "kubelet.config.k8s.io/v1beta1 | kubeletConfiguration"
            })
    void read_otherVersionOfTheKind_isRefused(String apiVersion, String kind) throws IOException {
        refuses(
                "apiVersion: " + apiVersion + "\nkind: " + kind + "\n",
                "write kind KubeletConfiguration of apiVersion");
    }

    @Test
    void read_noKind_isRefused() throws IOException {
        refuses("maxPods: 5\n", "line 1: has no apiVersion: write apiVersion and kind first");
    }

    @Test
    void read_sameKindTwice_isRefused() throws IOException {
        refuses(KUBELET + "---\n" + KUBELET, "line 4: is a second document of kind KubeletConfiguration");
    }

    @Test
    void read_sameFieldTwice_isRefused() throws IOException {
        refuses(KUBELET + "maxPods: 5\nmaxPods: 6\n", "line 4: has \"maxPods\" a second time");
    }

    @ParameterizedTest
    @ValueSource(strings = {"- a\n- b\n", "just text\n", "42"})
    void read_noMap_isRefused(String text) throws IOException {
        refuses(text, "line 1: is not a map of fields");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "'maxPods: [1' | line 4, column 1: it is neither YAML nor JSON",
                "'a: b: c' | line 3, column 5: it is neither YAML nor JSON: mapping values are not allowed here",
                "'\tmaxPods: 1' | line 3, column 1: it is neither YAML nor JSON: a tab indents: use spaces",
                "'? [a]\n: 1' | line 3, column 3: the name of a field must be text"
            })
    void read_noYaml_isRefusedWithTheLine(String text, String why) throws IOException {
        refuses(KUBELET + text + "\n", why);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"a: \"\\U", "a: \"\\u", "a: \"\\xZ\"", "a: \"\\Uffffffff\"", "a: \"\\u", "a: !!%9 1", "!<%> a: 1"
            })
    void read_brokenEscape_isRefused(String text) throws IOException {
        refuses(KUBELET + text, "is neither YAML nor JSON");
    }

    @Test
    void read_textThatGrowsThroughAliases_isRefused() throws IOException {
        String ten = ", *a".repeat(10).substring(2);
        StringBuilder text = new StringBuilder(KUBELET + "a: &a [x]\n");
        for (int level = 0; level < 6; level++) {
            String inner = level == 0 ? "*a" : "*b" + (level - 1);
            text.append("b" + level + ": &b" + level + " [" + ten.replace("*a", inner) + "]\n");
        }

        refuses(text.toString(), "it has more than 100000 values, its aliases replaced: write fewer");
    }

    @Test
    void read_alias_isWhatItStandsFor() throws IOException {
        Settings settings = ConfigurationFile.read(
                        write(KUBELET + "systemReserved: &r {cpu: 100m, memory: 1Gi}\nkubeReserved: *r\n"))
                .settings();

        assertThat(valueOf("kubeReserved", settings)).isEqualTo(valueOf("systemReserved", settings));
    }

    @Test
    void read_truthValuesOfYaml11_areTruthValues() throws IOException {
        Settings settings =
                ConfigurationFile.read(write(KUBELET + "registerNode: yes\n")).settings();

        assertThat(valueOf("registerNode", settings)).isEqualTo(true);
    }

    @Test
    void read_missingFile_isRefused() {
        Path file = directory.resolve("nope.yaml");

        assertThatThrownBy(() -> ConfigurationFile.read(file))
                .isInstanceOf(CommandException.class)
                .hasMessageStartingWith("configuration " + file + " does not exist: give the path");
    }

    @Test
    void read_directory_isRefused() {
        assertThatThrownBy(() -> ConfigurationFile.read(directory))
                .isInstanceOf(CommandException.class)
                .hasMessageStartingWith("configuration " + directory + " is a directory: ");
    }

    @Test
    void read_fileInsideAFile_isRefused() throws IOException {
        Path file = write("x").resolve("kubelet.yaml");

        assertThatThrownBy(() -> ConfigurationFile.read(file))
                .isInstanceOf(CommandException.class)
                .message()
                // JDK 25 says the first, JDK 17 the second
                .containsAnyOf(file + " does not exist: ", file + " cannot be read (" + file + ": Not a directory): ");
    }

    @Test
    void read_linkToItself_isRefused() throws IOException {
        Path file = directory.resolve("kubelet.yaml");
        Files.createSymbolicLink(file, file);

        assertThatThrownBy(() -> ConfigurationFile.read(file))
                .isInstanceOf(CommandException.class)
                .hasMessageStartingWith("configuration " + file + " cannot be read (" + file + ": ");
    }

    @Test
    void read_binaryFile_isRefused() throws IOException {
        Path file = Files.write(directory.resolve("kubelet.yaml"), new byte[] {(byte) 0xc3, 0x28, 0});

        assertThatThrownBy(() -> ConfigurationFile.read(file))
                .isInstanceOf(CommandException.class)
                .hasMessageContaining("is not text in UTF-8 or UTF-16");
    }

    @Test
    void read_hugeFile_isRefused() throws IOException {
        refuses("#".repeat((10 << 20) + 1), "is larger than 10 MiB");
    }

    private static Object valueOf(String field, Settings settings) {
        return Objects.requireNonNull(settings.find(field), field).value();
    }

    private void refuses(String text, String why) throws IOException {
        Path file = write(text);
        assertThatThrownBy(() -> ConfigurationFile.read(file))
                .isInstanceOf(CommandException.class)
                .hasMessageStartingWith("configuration " + file + " ")
                .hasMessageContaining(why);
    }

    private Path write(String text) throws IOException {
        return Files.writeString(directory.resolve("kubelet.yaml"), text);
    }
}
