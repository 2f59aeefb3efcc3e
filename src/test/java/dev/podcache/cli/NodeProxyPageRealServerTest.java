package dev.podcache.cli;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.google.common.io.Resources;
import dev.podcache.cli.output.CapturedConsole;
import dev.podcache.cli.output.RecordedOutput;
import dev.podcache.kubelet.server.PageServer;
import dev.podcache.testing.Browser;
import dev.podcache.testing.BrowserTab;
import dev.podcache.testing.BrowserTest;
import dev.podcache.testing.FreePorts;
import dev.podcache.testing.KubectlProxy;
import dev.podcache.testing.Needs;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.Secrets;
import dev.podcache.testing.ServerFeature;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The page of a {@code podcache run} through the API server, which rewrites the links of the HTML that it forwards. */
@RealServerTest
@Needs({ServerFeature.KUBELET_CONNECTIONS, ServerFeature.RBAC, ServerFeature.SERVICES})
@ExtendWith(NoLeaks.class)
class NodeProxyPageRealServerTest {

    private final RealApiServer real = RealApiServer.shared();
    private final RealNode node = new RealNode(real, "shown");
    private final String proxied = "/api/v1/nodes/" + node.name + "/proxy";
    private CompletableFuture<Integer> running = CompletableFuture.completedFuture(0);
    private CapturedConsole console = new CapturedConsole(Path.of(""));

    @TempDir
    private Path home;

    @BeforeEach
    void run() throws IOException {
        Path authority = home.resolve("ca.crt");
        Files.write(authority, Base64.getDecoder().decode(real.config().getCaCertData()));
        node.admin.resource(Secrets.of(node.namespace, "db", "one")).create();
        CapturedConsole used = new CapturedConsole(home);
        console = used;
        String[] command = {
            "run",
            "--kubeconfig=" + node.kubeconfig(),
            "--hostname-override=" + node.name,
            "--client-ca-file=" + authority,
            "--healthz-port=0",
            "--port=" + FreePorts.find(1).get(0)
        };
        running = CompletableFuture.supplyAsync(() -> used.execute(command), NewThread.EACH);
        await().ignoreExceptions()
                .until(() -> !node.admin.raw(proxied + "/livez").isEmpty());
    }

    @AfterEach
    void stop() throws Exception {
        console.stop();
        assertThat(running.get(60, TimeUnit.SECONDS)).isZero();
        node.admin.nodes().withName(node.name).delete();
        node.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/ui", "/ui/"})
    void page_throughTheNodeProxy_keepsTheScriptThatItsPolicyNames(String path) throws IOException {
        String page = real.kubectl("get", "--raw", proxied + path);

        assertThat(script(page))
                .isEqualTo(script(Resources.toString(
                        Resources.getResource(PageServer.class, "ui.html"), StandardCharsets.UTF_8)));
    }

    private static String script(String html) {
        return html.substring(html.indexOf("<script>"), html.indexOf("</script>"));
    }

    @Test
    void state_throughTheNodeProxy_isThatOfTheNode_forThoseWhoMayUseTheProxy() {
        String path = proxied + "/ui/state";

        assertThat(RecordedOutput.parsed(real.kubectl("get", "--raw", path))
                        .path("node")
                        .asText())
                .isEqualTo(node.name);
        try (KubernetesClient nobody = real.clientFor("nobody", "no-group")) {
            assertThat(catchThrowableOfType(KubernetesClientException.class, () -> nobody.raw(path))
                            .getCode())
                    .isEqualTo(403);
        }
    }

    @Test
    void doctor_ofTheNode_findsItRegisteredAndReachable() {
        await().untilAsserted(() -> {
            CapturedConsole doctor = doctor(node.name);

            assertThat(doctor.out())
                    .anyMatch(line -> line.startsWith("ok") && line.contains("Node " + node.name + " is Ready"))
                    .anyMatch(line -> line.startsWith("ok") && line.contains("the Lease of node " + node.name))
                    .anyMatch(line -> line.startsWith("ok") && line.contains("no request of node " + node.name))
                    .anyMatch(line -> line.startsWith("ok") && line.contains("kubectl logs and exec can work"));
        });
    }

    @Test
    void doctor_ofANodeWithoutAgent_saysWhatIsMissing() {
        CapturedConsole doctor = doctor("nobody-there");

        assertThat(doctor.out())
                .anyMatch(line -> line.startsWith("problem") && line.contains("there is no Node nobody-there"))
                .anyMatch(line -> line.startsWith("problem") && line.contains("no Lease in kube-node-lease"))
                .anyMatch(line -> line.startsWith("problem") && line.contains("the endpoint of node nobody-there"));
    }

    private CapturedConsole doctor(String name) {
        CapturedConsole doctor = new CapturedConsole(home);
        doctor.execute("doctor", "--kubeconfig", real.kubeconfig().toString(), "--node", name);
        return doctor;
    }

    /** In Chromium, with {@code kubectl proxy}. */
    @Nested
    @BrowserTest
    class InABrowser {

        @ParameterizedTest
        @ValueSource(strings = {"/ui", "/ui/", "/ui/?state=FRESH"})
        void page_throughKubectlProxy_showsTheNodeAndItsObjects(String path) {
            node.create(node.assigned("web")
                    .editSpec()
                    .withAutomountServiceAccountToken(false)
                    .addNewImagePullSecret("db")
                    .endSpec());
            try (KubectlProxy proxy = KubectlProxy.start(real);
                    Browser browser = Browser.start();
                    BrowserTab tab = browser.tab()) {
                tab.load(proxy.url() + proxied + path);

                tab.until("document.body.className === 'connected'");
                tab.until("document.getElementById('entries').innerText.includes('db')");
                assertThat(tab.text("h1")).isEqualTo(node.name);
                assertThat(tab.evaluate("document.getElementById('json').href").asText())
                        .isEqualTo(proxy.url() + proxied + "/ui/state");
                assertThat(tab.problems()).isEmpty();
                assertThat(tab.requests()).allSatisfy(url -> assertThat(url).startsWith(proxy.url() + proxied + "/ui"));
            }
        }
    }
}
