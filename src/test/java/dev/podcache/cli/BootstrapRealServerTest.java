package dev.podcache.cli;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.ObjectArrays;
import dev.podcache.cli.output.CapturedConsole;
import dev.podcache.testing.CertificateSigner;
import dev.podcache.testing.CertificateSigner.SignerDecision;
import dev.podcache.testing.FreePorts;
import dev.podcache.testing.KubeconfigFile;
import dev.podcache.testing.Needs;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.ServerFeature;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** {@code run --bootstrap-kubeconfig} with a bootstrap token, on a kube-apiserver that accepts such tokens. */
@RealServerTest
@Needs({ServerFeature.CERTIFICATES, ServerFeature.RBAC, ServerFeature.SERVICES})
@ExtendWith(NoLeaks.class)
class BootstrapRealServerTest {

    private static final String TOKEN_ID = "abcdef";
    private static final String TOKEN_SECRET = "0123456789abcdef";

    private static RealApiServer real;

    @TempDir
    private Path home;

    private RealNode node;
    private CertificateSigner signer;
    private int port;
    private CapturedConsole console = new CapturedConsole(Path.of(""));
    private CompletableFuture<Integer> running = CompletableFuture.completedFuture(0);

    @BeforeAll
    static void startServer() {
        real = RealApiServer.start("--enable-bootstrap-token-auth=true");
        real.kubectl(
                "create",
                "clusterrolebinding",
                "podcache-bootstrap",
                "--clusterrole=system:node-bootstrapper",
                "--group=system:bootstrappers");
    }

    @AfterAll
    static void stopServer() {
        real.close();
    }

    @BeforeEach
    void createToken() throws IOException {
        node = new RealNode(real, "booted");
        signer = real.signer(node.name);
        port = FreePorts.find(1).get(0);
        node.admin
                .resource(new SecretBuilder()
                        .withNewMetadata()
                        .withNamespace("kube-system")
                        .withName("bootstrap-token-" + TOKEN_ID)
                        .endMetadata()
                        .withType("bootstrap.kubernetes.io/token")
                        .addToStringData("token-id", TOKEN_ID)
                        .addToStringData("token-secret", TOKEN_SECRET)
                        .addToStringData("usage-bootstrap-authentication", "true")
                        .build())
                .createOr(secret -> secret.update());
        writeBootstrap(TOKEN_SECRET);
    }

    @BeforeEach
    void allowLateAnswers(NoLeaks leaks) {
        leaks.allowWarnings("no answer from");
    }

    @AfterEach
    void tearDown() throws Exception {
        stop();
        signer.close();
        node.close();
    }

    private void writeBootstrap(String secret) throws IOException {
        KubeconfigFile.write(
                home.resolve("bootstrap.kubeconfig"),
                real.url(),
                real.config().getCaCertData(),
                "token: \"" + TOKEN_ID + "." + secret + "\"");
    }

    private Path kubeconfig() {
        return home.resolve("node.kubeconfig");
    }

    private void run(String... more) {
        console = new CapturedConsole(home);
        CapturedConsole used = console;
        String[] command = {
            "run",
            "--hostname-override",
            node.name,
            "--kubeconfig",
            kubeconfig().toString(),
            "--bootstrap-kubeconfig",
            home.resolve("bootstrap.kubeconfig").toString(),
            "--cert-dir",
            home.resolve("pki").toString(),
            "--port",
            String.valueOf(port)
        };
        running = CompletableFuture.supplyAsync(
                () -> used.execute(ObjectArrays.concat(command, more, String.class)), NewThread.EACH);
    }

    private int stop() throws Exception {
        console.stop();
        return ended();
    }

    private int ended() throws Exception {
        return running.get(60, TimeUnit.SECONDS);
    }

    private void awaitNode() {
        await().until(() -> running.isDone() || node.lease() != null);
        assertThat(running).as("%s", console.err()).isNotDone();
    }

    private boolean printed(String text) {
        return console.out().stream().anyMatch(line -> line.contains(text));
    }

    @Test
    void newNode_getsACertificateByItsToken_andNeedsNoTokenAfterARestart() throws Exception {
        run();
        awaitNode();
        assertThat(stop()).isZero();
        assertThat(Files.readString(kubeconfig()))
                .contains(home.resolve("pki/kubelet-client-current.pem").toString())
                .doesNotContain(TOKEN_SECRET);
        Files.delete(home.resolve("bootstrap.kubeconfig"));
        String renewed = String.valueOf(node.lease().getSpec().getRenewTime());

        run();

        await().until(() ->
                !String.valueOf(node.lease().getSpec().getRenewTime()).equals(renewed));
        assertThat(stop()).isZero();
        assertThat(signer.requests()).hasSize(1);
        assertThat(String.join("\n", console.out())).doesNotContain(TOKEN_SECRET);
    }

    @Test
    void kubeconfigLost_certificateIsUsedAgain() throws Exception {
        run();
        awaitNode();
        stop();
        Files.delete(kubeconfig());

        run();
        await().until(() -> printed("started"));

        assertThat(stop()).isZero();
        assertThat(signer.requests()).hasSize(1);
    }

    @Test
    void certificateExpired_anotherOneIsRequested() throws Exception {
        // in which the node is to be registered
        Duration valid = Duration.ofSeconds(30);
        signer.validity(Duration.ofHours(1), valid);
        run();
        awaitNode();
        stop();
        Instant expired = Instant.now().plus(valid);
        await().until(() -> Instant.now().isAfter(expired));
        signer.validity(Duration.ofMinutes(5), Duration.ofHours(1));

        run();
        await().until(() -> printed("started"));

        assertThat(console.out()).anyMatch(line -> line.contains("expired at"));
        assertThat(signer.requests()).hasSize(2);
    }

    @Test
    void rotateCertificates_replacesTheFileOfARunningAgent() throws Exception {
        // due between 3 and 21 s after it was signed
        signer.validity(Duration.ofSeconds(60), Duration.ofSeconds(30));
        run("--rotate-certificates");
        awaitNode();
        Path file = home.resolve("pki/kubelet-client-current.pem");
        Path first = Files.readSymbolicLink(file);

        await().until(() ->
                signer.requests().size() > 2 && !Files.readSymbolicLink(file).equals(first));

        assertThat(stop()).isZero();
    }

    @Test
    void requestDenied_endsWithWhatToDo() throws Exception {
        signer.decide(SignerDecision.DENY);

        run();

        assertThat(ended()).isEqualTo(1);
        assertThat(console.errText())
                .contains("error: API server " + real.url())
                .contains("was denied (NotOurs: the node is unknown)")
                .contains("`kubectl delete csr " + signer.requests().get(0) + "`");
        assertThat(kubeconfig()).doesNotExist();
    }

    @Test
    void requestNotApproved_saysWhatItWaitsFor_andEndsWhenToldTo() throws Exception {
        signer.decide(SignerDecision.IGNORE);

        run();

        await().until(() -> printed("`kubectl certificate approve node-csr-"));
        assertThat(stop()).isZero();
    }

    @Test
    void requestNotApprovedInTime_endsWithWhatItWaitedFor() throws Exception {
        signer.decide(SignerDecision.IGNORE);

        run("--for", "5s");

        assertThat(ended()).isEqualTo(1);
        assertThat(console.errText()).contains("no certificate within --for");
    }

    @Test
    void tokenWrong_endsWithWhatToDo() throws Exception {
        writeBootstrap("ffffffffffffffff");

        run();

        assertThat(ended()).isEqualTo(1);
        assertThat(console.errText())
                .contains("was answered 401")
                .contains("`kubeadm token create`")
                .doesNotContain("ffffffffffffffff");
    }

    @Test
    void bootstrapWithoutKubeconfig_isAWrongCommandLine() {
        console = new CapturedConsole(home);

        int code = console.execute("run", "--node", node.name, "--bootstrap-kubeconfig", "b");

        assertThat(code).isEqualTo(2);
        assertThat(console.errText()).contains("--bootstrap-kubeconfig needs --kubeconfig");
    }
}
