package dev.podcache.cli.config;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.podcache.cli.output.CapturedConsole;
import dev.podcache.cli.output.RecordedOutput;
import dev.podcache.testing.NoLeaks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@ExtendWith(NoLeaks.class)
class ConfigCommandTest {

    private static final String HEAD = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n";

    private final CapturedConsole console = new CapturedConsole(Path.of(""));

    @TempDir
    private Path folder;

    @Test
    void print_flagFileAndDefault_areShownWithTheirSource() throws IOException {
        Path file =
                write("maxPods: 20\nkubeAPIQPS: 7\nnodeStatusUpdateFrequency: 1m30s\nsystemReserved: {cpu: 200m}\n");

        int code = console.execute(
                "config", "print", "--config", file.toString(), "--max-pods", "50", "--strategy", "Cache");

        assertThat(code).isZero();
        assertThat(console.err()).isEmpty();
        assertLine("maxPods", "50", "--max-pods");
        assertLine("configMapAndSecretChangeDetectionStrategy", "Cache", "--strategy");
        assertLine("kubeAPIQPS", "7", file + " line 4");
        assertLine("nodeStatusUpdateFrequency", "1m30s", file + " line 5");
        assertLine("systemReserved", "cpu=200m", file + " line 6");
        assertLine("syncFrequency", "1m0s", "default");
        assertLine("fileCheckFrequency", "20s", "default");
        assertLine("kubeAPIBurst", "100", "default");
        assertLine("payloadBudget", "-", "default");
    }

    @Test
    void print_evictionDefaults_areShown() throws IOException {
        console.execute("config", "print");

        assertLine(
                "evictionHard",
                "memory.available=100Mi,nodefs.available=10%,nodefs.inodesFree=5%,imagefs.available=15%,"
                        + "imagefs.inodesFree=5%",
                "default");
        assertLine("mergeDefaultEvictionSettings", "false", "default");
        assertLine("evictionMaxPodGracePeriod", "0", "default");
        assertLine("localStorageCapacityIsolation", "true", "default");
        assertLine("enforceNodeAllocatable", "pods", "default");
        assertLine("evictionSoft", "-", "default");
    }

    @Test
    void print_mergedThresholds_areTheEffectiveOnes() throws IOException {
        Path file = write("mergeDefaultEvictionSettings: true\nevictionHard: {memory.available: 1Gi}\n");

        console.execute("config", "print", "--config", file.toString());

        assertLine(
                "evictionHard",
                "memory.available=1Gi,nodefs.available=10%,nodefs.inodesFree=5%,imagefs.available=15%,"
                        + "imagefs.inodesFree=5%",
                file + " line 4");
        assertLine("mergeDefaultEvictionSettings", "true", file + " line 3");
    }

    /** As the kubelet does: older files set only the update frequency, and mean both. */
    @Test
    void print_defaultThatFollowsAnotherField_isTheEffectiveValue() throws IOException {
        Path file = write("nodeStatusUpdateFrequency: 20s\n");

        console.execute("config", "print", "--config", file.toString());

        assertLine("nodeStatusReportFrequency", "20s", "default");
    }

    @Test
    void print_everyFieldThatTakesEffect_isShownOnce() {
        console.execute("config", "print", "-o", "json");

        List<String> fields = console.out().stream()
                .map(RecordedOutput::parsed)
                .map(line -> line.path("field").asText())
                .toList();
        assertThat(fields).doesNotHaveDuplicates();
        for (ConfigurationKind kind : ConfigurationKind.values()) {
            assertThat(fields).containsAll(kind.honoured());
        }
    }

    /** Nothing that a kubelet would do, and this agent does not, is passed over in silence. */
    @Test
    void print_whatThisAgentDoesNotDo_isListedByName() throws IOException {
        Path file = write("""
                memorySwap: {swapBehavior: LimitedSwap}
                serverTLSBootstrap: true
                shutdownGracePeriod: 30s
                shutdownGracePeriodCriticalPods: 10s
                shutdownGracePeriodByPodPriority: [{priority: 1, shutdownGracePeriodSeconds: 2}]
                """);

        console.execute("config", "print", "--config", file.toString());

        assertThat(console.out())
                .last()
                .isEqualTo("without effect here: memorySwap, serverTLSBootstrap, shutdownGracePeriod,"
                        + " shutdownGracePeriodCriticalPods, shutdownGracePeriodByPodPriority");
    }

    @Test
    void print_authenticationThatTheEndpointDoesNotDo_isListed() throws IOException {
        Path file = write("""
                authentication:
                  anonymous: {enabled: true}
                  webhook: {enabled: false, cacheTTL: 5m}
                  x509: {clientCAFile: /ca.crt}
                """);

        int code = console.execute("config", "print", "--config", file.toString());

        assertThat(code).isZero();
        assertThat(console.out())
                .last()
                .isEqualTo("without effect here: authentication.anonymous.enabled, authentication.webhook.enabled,"
                        + " authentication.webhook.cacheTTL");
    }

    /** As kubeadm writes it. */
    @Test
    void print_authenticationThatTheEndpointDoes_isNotListed() throws IOException {
        Path file = write(
                "authentication: {anonymous: {enabled: false}, webhook: {cacheTTL: 0s, enabled: true}, x509: {}}\n");

        assertThat(console.execute("config", "print", "--config", file.toString()))
                .isZero();
        assertThat(console.out()).noneMatch(line -> line.contains("without effect"));
    }

    @Test
    void print_fieldsWithoutEffect_areListedAtTheEnd() throws IOException {
        Path file = write("nodeStatusMaxImages: 10\nmaxPods: 20\nkernelMemcgNotification: true\n");

        int code = console.execute("config", "print", "--config", file.toString());

        assertThat(code).isZero();
        assertThat(console.out()).last().isEqualTo("without effect here: nodeStatusMaxImages, kernelMemcgNotification");
    }

    @Test
    void print_json_hasValueAndSource() {
        console.execute("config", "print", "-o", "json", "--max-pods", "50");

        JsonNode line = console.out().stream()
                .map(RecordedOutput::parsed)
                .filter(each -> each.path("field").asText().equals("maxPods"))
                .findFirst()
                .orElseThrow();
        assertThat(line.path("event").asText()).isEqualTo("setting");
        assertThat(line.path("value").asText()).isEqualTo("50");
        assertThat(line.path("source").asText()).isEqualTo("--max-pods");
    }

    @Test
    void print_wrongFlag_isUsageError() {
        int code = console.execute("config", "print", "--max-pods", "-1");

        assertThat(code).isEqualTo(2);
        assertThat(console.err()).first().asString().contains("--max-pods is -1: it must be a whole number from 0");
        assertThat(console.err()).last().isEqualTo("try: podcache config print --help");
    }

    @Test
    void validate_fileOfTheDocumentation_isValid() {
        int code = console.execute("config", "validate", "-f", "deploy/examples/kubelet-config.yaml");

        assertThat(code).isZero();
        assertThat(console.out()).containsExactly("deploy/examples/kubelet-config.yaml is valid");
    }

    @Test
    void validate_severalErrors_areAllPrintedWithTheirLines() throws IOException {
        Path file = write("maxPods: -1\nmaxPod: 5\nsyncFrequency: fast\nclusterDNS: x\naddress: here\n");

        int code = console.execute("config", "validate", "-f", file.toString());

        assertThat(code).isEqualTo(1);
        assertThat(console.out())
                .anyMatch(
                        line -> line.startsWith("error: configuration " + file + " line 3: maxPods is -1: it must be"))
                .anyMatch(line -> line.contains("line 4: maxPod is not a field of") && line.endsWith("maxPods?"))
                .anyMatch(line -> line.contains("line 5: syncFrequency is \"fast\": it must be a positive duration"))
                .anyMatch(line -> line.contains("line 7: address: address must be an IP address"))
                .endsWith("without effect here: clusterDNS")
                .hasSize(5);
        assertThat(console.err()).isEmpty();
    }

    @Test
    void validate_json_isOneObjectAnError() throws IOException {
        Path file = write("maxPods: -1\n");

        int code = console.execute("config", "validate", "-f", file.toString(), "-o", "json");

        assertThat(code).isEqualTo(1);
        assertThat(console.out())
                .singleElement()
                .satisfies(line -> assertThat(
                                RecordedOutput.parsed(line).path("message").asText())
                        .contains("line 3: maxPods is -1"));
    }

    @Test
    void validate_noConfiguration_failsNamingTheLine() throws IOException {
        Path file = Files.writeString(folder.resolve("x.yaml"), "apiVersion: v1\nkind: Pod\n");

        int code = console.execute("config", "validate", "-f", file.toString());

        assertThat(code).isEqualTo(1);
        assertThat(console.err()).singleElement().asString().contains("x.yaml line 1: has kind \"Pod\"");
    }

    @ParameterizedTest
    @ValueSource(strings = {"config", "config validate"})
    void config_incompleteCommandLine_isUsageError(String line) {
        int code = console.execute(line.split(" "));

        assertThat(code).isEqualTo(2);
        assertThat(console.err())
                .first()
                .asString()
                .matches("error: (the subcommand is missing: print or validate|Missing required .*)");
    }

    private Path write(String fields) throws IOException {
        return Files.writeString(folder.resolve("kubelet.yaml"), HEAD + fields);
    }

    private void assertLine(String field, String value, String source) {
        assertThat(console.out())
                .anyMatch(line -> line.matches(field + " +" + Pattern.quote(value) + " +" + Pattern.quote(source)));
    }
}
