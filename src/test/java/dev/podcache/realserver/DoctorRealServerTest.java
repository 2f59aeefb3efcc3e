package dev.podcache.realserver;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.HashMultimap;
import com.google.common.collect.ImmutableSetMultimap;
import com.google.common.collect.Multimaps;
import com.google.common.collect.SetMultimap;
import dev.podcache.cli.access.ManifestWriter;
import dev.podcache.cli.access.RoleManifests;
import dev.podcache.cli.access.RoleSubject;
import dev.podcache.cli.access.StrategyAccess;
import dev.podcache.cli.config.ObjectId;
import dev.podcache.cli.output.CapturedConsole;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.KubeconfigFile;
import dev.podcache.testing.Needs;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.ServerFeature;
import dev.podcache.testing.TestCertificates;
import dev.podcache.testing.TlsProxy;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.dsl.NamespaceableResource;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code doctor} and {@code rbac} against a kube-apiserver: what is wrong is found, and what is printed mends it. */
@RealServerTest
@ExtendWith(NoLeaks.class)
class DoctorRealServerTest {

    private static final RealApiServer REAL = RealApiServer.shared();

    private final TestNamespace shop = new TestNamespace(REAL);
    private final List<String> arguments = new ArrayList<>();
    private Path kubeconfig = Path.of("");

    @TempDir
    private Path folder;

    /** The result of one run. */
    private record DoctorRun(int code, List<String> out, List<String> err) {

        List<String> problems() {
            return out.stream().filter(line -> line.startsWith("problem")).toList();
        }

        String text() {
            return String.join("\n", out);
        }
    }

    @AfterEach
    void close() {
        shop.close();
    }

    @ParameterizedTest
    @EnumSource
    @Needs({ServerFeature.RBAC, ServerFeature.SERVICE_ACCOUNTS, ServerFeature.TOKENS})
    void doctor_withWhatRbacPrints_findsNoProblem(StrategyAccess strategy) {
        useReader(strategy);

        REAL.kubectl(
                "apply",
                "-f",
                file(run("rbac", "--service-account", shop.name() + "/reader").out()));

        await().untilAsserted(() -> {
            DoctorRun doctor = run("doctor");
            assertThat(doctor.code()).as(doctor.text()).isZero();
            assertThat(doctor.out())
                    .anyMatch(line -> line.startsWith("ok") && line.contains("runs Kubernetes v"))
                    .anyMatch(line ->
                            line.contains("may " + String.join(" and ", strategy.verbs()) + " each of the 3 objects"))
                    .endsWith("no problem found");
        });
    }

    @ParameterizedTest
    @EnumSource
    @Needs({ServerFeature.RBAC, ServerFeature.SERVICE_ACCOUNTS, ServerFeature.TOKENS})
    void doctor_eachVerbRemovedFromEachObject_isFound_andItsRoleMendsIt(StrategyAccess strategy) {
        useReader(strategy);
        SetMultimap<ObjectId, String> all = allVerbs(strategy);
        RoleManifests roles =
                new RoleManifests("podcache-reader", RoleSubject.account(ObjectKey.of(shop.name(), "reader")));

        all.forEach((object, verb) -> {
            SetMultimap<ObjectId, String> rest = Multimaps.filterEntries(
                    all,
                    entry -> !(entry.getKey().equals(object) && entry.getValue().equals(verb)));
            apply(documents(roles.forVerbs(ImmutableSetMultimap.copyOf(rest))));
            await().untilAsserted(() -> {
                DoctorRun doctor = run("doctor");
                assertThat(doctor.problems())
                        .singleElement()
                        .asString()
                        .endsWith("system:serviceaccount:" + shop.name() + ":reader may not " + verb + " " + object);
                assertThat(doctor.code()).isEqualTo(3);
                assertThat(doctor.out()).contains("1 problem found");
            });

            List<String> missing = run("doctor", "--only-roles").out();

            apply(missing);
            await().untilAsserted(() -> assertThat(run("doctor").code()).isZero());
            delete(missing);
        });
    }

    @Test
    @Needs({ServerFeature.RBAC, ServerFeature.SERVICE_ACCOUNTS, ServerFeature.TOKENS})
    void doctor_getInsteadOfList_isANote() {
        useReader(StrategyAccess.WATCH);
        SetMultimap<ObjectId, String> verbs = HashMultimap.create();
        allVerbs(StrategyAccess.WATCH).keySet().forEach(object -> verbs.putAll(object, Set.of("get", "watch")));
        apply(documents(
                new RoleManifests("reader", RoleSubject.account(ObjectKey.of(shop.name(), "reader"))).forVerbs(verbs)));

        await().untilAsserted(() -> {
            DoctorRun doctor = run("doctor");
            assertThat(doctor.code()).as(doctor.text()).isZero();
            assertThat(doctor.out())
                    .filteredOn(line -> line.startsWith("note") && line.contains(", but may get it"))
                    .hasSize(3);
        });
    }

    @Test
    @Needs({ServerFeature.NODE_AUTHORIZER, ServerFeature.RBAC})
    void doctor_nodeWithoutThePod_isToldToBindOne_andGetsNoRole() {
        arguments.addAll(List.of("--secrets", shop.name() + "/db"));
        kubeconfig = REAL.nodeKubeconfig("worker-1");

        DoctorRun doctor = run("doctor");

        assertThat(doctor.code()).isEqualTo(3);
        assertThat(doctor.text())
                .contains("system:node:worker-1 may not list Secret " + shop.name() + "/db", "bind a pod to this node")
                .doesNotContain("kind: Role");
    }

    @Test
    void doctor_otherAuthority_isFound() throws Exception {
        String other = base64(TestCertificates.another().authorityPem());
        kubeconfig = KubeconfigFile.write(folder.resolve("kubeconfig"), REAL.url(), other, "token: \"t\"");

        DoctorRun doctor = run("doctor");

        assertThat(doctor.code()).isEqualTo(3);
        assertThat(doctor.problems())
                .singleElement()
                .asString()
                .contains("tls", "the server's certificate is not from the authority in the kubeconfig");
        assertThat(doctor.text()).contains("why: ", "do:  put the certificate of the cluster's authority into");
    }

    @Test
    void doctor_clientCertificateExpired_isFound() throws IOException {
        Instant end = Instant.now().minus(Duration.ofHours(1));
        kubeconfig = KubeconfigFile.write(folder.resolve("kubeconfig"), REAL, end);

        DoctorRun doctor = run("doctor");

        assertThat(doctor.code()).isEqualTo(3);
        assertThat(doctor.problems())
                .singleElement()
                .asString()
                .contains(
                        "credentials",
                        "the client certificate expired at " + end.toString().substring(0, 16));
    }

    @Test
    @Needs(ServerFeature.TOKENS)
    void doctor_tokenThatIsNone_isFound() throws IOException {
        String token = "no-token-" + NoLeaks.CANARY;
        kubeconfig = KubeconfigFile.write(
                folder.resolve("kubeconfig"), REAL.url(), REAL.config().getCaCertData(), "token: \"" + token + "\"");

        DoctorRun doctor = run("doctor");

        assertThat(doctor.code()).isEqualTo(3);
        assertThat(doctor.problems()).singleElement().asString().contains("the server does not accept them (401)");
        NoLeaks.saw(doctor.text());
    }

    @Test
    void doctor_serverCertificateExpired_isFound() throws Exception {
        TestCertificates own = new TestCertificates();
        String expired = own.serverPemUntil(Instant.now().minus(Duration.ofHours(1)));
        try (TlsProxy proxy = proxy(own, expired, true, date -> date)) {
            kubeconfig = through(proxy, own);

            DoctorRun doctor = run("doctor");

            assertThat(doctor.code()).isEqualTo(3);
            assertThat(doctor.problems())
                    .singleElement()
                    .asString()
                    .contains("tls", "the server's certificate has expired");
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {-300, 300})
    @Needs({ServerFeature.SERVICE_ACCOUNTS, ServerFeature.TOKENS})
    void doctor_clockOfTheServerIsOff_isFound(long seconds) throws Exception {
        TestCertificates own = new TestCertificates();
        DateTimeFormatter form = DateTimeFormatter.RFC_1123_DATE_TIME;
        UnaryOperator<String> off =
                date -> form.format(ZonedDateTime.parse(date, form).plusSeconds(seconds));
        try (TlsProxy proxy = proxy(own, own.serverPem(), true, off)) {
            kubeconfig = through(proxy, own);

            DoctorRun doctor = run("doctor");

            assertThat(doctor.code()).as(doctor.text()).isEqualTo(3);
            assertThat(doctor.problems())
                    .singleElement()
                    .asString()
                    .matches("problem +clock +this machine's clock is about (4|5) min "
                            + (seconds > 0 ? "behind" : "ahead of") + " the server's");
        }
    }

    @ParameterizedTest
    @EnumSource
    @Needs({ServerFeature.SERVICE_ACCOUNTS, ServerFeature.TOKENS})
    void doctor_proxyWithoutHttp2_isAProblemOnlyForWatches(StrategyAccess strategy) throws Exception {
        TestCertificates own = new TestCertificates();
        try (TlsProxy proxy = proxy(own, own.serverPem(), false, date -> date)) {
            kubeconfig = through(proxy, own);
            arguments.addAll(List.of("--strategy", strategy.name()));

            DoctorRun doctor = run("doctor");

            boolean watches = strategy == StrategyAccess.WATCH;
            assertThat(doctor.code()).as(doctor.text()).isEqualTo(watches ? 3 : 0);
            assertThat(doctor.out())
                    .anyMatch(line -> line.startsWith(watches ? "problem" : "note")
                            && line.contains("only HTTP/1.1 is spoken by the server or a proxy before it"));
        }
    }

    @Test
    void doctor_fewStreams_areFound() {
        try (RealApiServer narrow = RealApiServer.start("--http2-max-streams-per-connection=50")) {
            kubeconfig = narrow.kubeconfig();

            DoctorRun doctor = run("doctor");

            assertThat(doctor.code()).isEqualTo(3);
            assertThat(doctor.problems())
                    .singleElement()
                    .asString()
                    .contains("http2", "only 50 streams on each connection, fewer than the usual 100");
        }
    }

    /** Makes a service account without permissions the one that doctor runs as, for three objects. */
    private void useReader(StrategyAccess strategy) {
        try {
            kubeconfig = kubeconfigOf(
                    shop.accountWithoutAccess(), REAL.url(), REAL.config().getCaCertData());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        arguments.addAll(List.of("--strategy", strategy.name()));
        arguments.addAll(List.of("--secrets", shop.name() + "/db," + shop.name() + "/cert"));
        arguments.addAll(List.of("--config-maps", shop.name() + "/settings"));
    }

    private SetMultimap<ObjectId, String> allVerbs(StrategyAccess strategy) {
        ImmutableSetMultimap.Builder<ObjectId, String> all = ImmutableSetMultimap.builder();
        Stream.of("db", "cert")
                .forEach(name ->
                        all.putAll(new ObjectId(ObjectKind.SECRET, ObjectKey.of(shop.name(), name)), strategy.verbs()));
        all.putAll(new ObjectId(ObjectKind.CONFIG_MAP, ObjectKey.of(shop.name(), "settings")), strategy.verbs());
        return all.build();
    }

    private Path through(TlsProxy proxy, TestCertificates own) throws Exception {
        return kubeconfigOf(shop.accountWithoutAccess(), proxy.url(), base64(own.authorityPem()));
    }

    private Path kubeconfigOf(Config account, String url, String authority) throws IOException {
        return KubeconfigFile.write(
                folder.resolve("kubeconfig"), url, authority, "token: \"" + account.getOauthToken() + "\"");
    }

    private static TlsProxy proxy(TestCertificates own, String certificate, boolean http2, UnaryOperator<String> date) {
        return TlsProxy.start(URI.create(REAL.url()).getPort(), certificate, own.privateKeyPem(), http2, date);
    }

    private DoctorRun run(String command, String... more) {
        CapturedConsole console = new CapturedConsole(folder);
        List<String> words = new ArrayList<>(List.of(command));
        if (command.equals("doctor")) {
            words.addAll(List.of("--kubeconfig", kubeconfig.toString()));
        }
        words.addAll(arguments);
        words.addAll(List.of(more));
        int code = console.execute(words.toArray(new String[0]));
        return new DoctorRun(code, console.out(), console.err());
    }

    private static List<String> documents(List<Map<String, Object>> manifests) {
        return manifests.stream().map(ManifestWriter::document).toList();
    }

    /** Applies manifests without kubectl, which takes longer to start than all that a test asks doctor. */
    private void apply(List<String> manifests) {
        loaded(manifests).forEach(manifest -> manifest.createOr(existing -> existing.update()));
    }

    private void delete(List<String> manifests) {
        loaded(manifests).forEach(manifest -> manifest.delete());
    }

    private Stream<NamespaceableResource<HasMetadata>> loaded(List<String> manifests) {
        String text = String.join("\n", manifests);
        return shop.admin()
                .load(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)))
                .resources();
    }

    private String file(List<String> lines) {
        try {
            return Files.writeString(folder.resolve("manifests.yaml"), String.join("\n", lines))
                    .toString();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String base64(String pem) {
        return Base64.getEncoder().encodeToString(pem.getBytes(StandardCharsets.US_ASCII));
    }
}
