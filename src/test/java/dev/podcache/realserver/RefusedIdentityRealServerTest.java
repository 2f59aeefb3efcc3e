package dev.podcache.realserver;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.Podcache;
import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.Secrets;
import dev.podcache.testing.TcpProxy;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/**
 * Requests of somebody whom the server does not know, beside watches that it has accepted. A server since 1.29 answers
 * such a request and asks for no more streams on its connection (GOAWAY).
 */
@RealServerTest
@ExtendWith(NoLeaks.class)
class RefusedIdentityRealServerTest {

    private static final Duration VALID = Duration.ofSeconds(30);
    private static final List<String> FOLLOWED = names("followed-", 8);
    private static final List<String> LATE = names("late-", 20);

    @TempDir
    private Path home;

    private final RealApiServer real = RealApiServer.shared();
    private final TestNamespace shop = new TestNamespace(real);
    private final TcpProxy proxy = shop.proxy();
    private final TcpProxy elsewhere = shop.proxy();
    private final RecordedWatches told = new RecordedWatches();
    private final RecordedWatches toldElsewhere = new RecordedWatches();
    private final KubernetesClient admin = TestNamespace.through(elsewhere, real.config());
    private final Podcache bystander =
            Podcache.builder(admin).metrics(toldElsewhere).build();

    @BeforeEach
    void followElsewhere(NoLeaks leaks) {
        leaks.allowWarnings("failed; retrying");
        FOLLOWED.forEach(name -> shop.put(name, "v1"));
        LATE.forEach(name -> shop.put(name, "v1"));
        register(bystander, FOLLOWED);
        await().until(() -> toldElsewhere.synced() == FOLLOWED.size());
    }

    @AfterEach
    void close() {
        bystander.close();
        admin.close();
        elsewhere.close();
        proxy.close();
        shop.close();
    }

    @Test
    void certificateExpires_newWatchesAreRefused_andThoseBesideThemGoOn() {
        Path certificate = home.resolve("client.crt");
        Instant end = Instant.now().plus(VALID);
        real.writeCertificate(certificate, end);
        Config config = new ConfigBuilder(real.config())
                .withClientCertData(null)
                .withClientCertFile(certificate.toString())
                .build();
        try (KubernetesClient client = TestNamespace.through(proxy, config);
                Podcache cache = Podcache.builder(client).metrics(told).build()) {
            register(cache, FOLLOWED);
            await().until(() -> told.synced() == FOLLOWED.size());
            assertThat(Instant.now()).as("in time").isBefore(end);
            await().until(() -> Instant.now().isAfter(end.plusSeconds(1)));

            register(cache, LATE);
            await().until(() -> LATE.stream().allMatch(name -> told.failed(name, FailureReason.UNAUTHORIZED)));
            assertAllAre(cache, LATE, CacheState.NOT_SYNCED);
            update(FOLLOWED, "v2");
            awaitAll(cache, FOLLOWED, "v2");
            assertAllAre(cache, FOLLOWED, CacheState.FRESH);

            int connections = proxy.accepted();
            real.writeCertificate(certificate, Instant.now().plus(Duration.ofHours(1)));
            if (real.version().turnsStrangersAway()) {
                // each new connection reads the new certificate
                awaitAll(cache, LATE, "v1");
                assertAllAre(cache, LATE, CacheState.FRESH);
                assertThat(proxy.accepted()).isGreaterThan(connections);
                update(LATE, "v3");
                awaitAll(cache, LATE, "v3");
            }
            update(FOLLOWED, "v3");
            awaitAll(cache, FOLLOWED, "v3");
            assertThat(FOLLOWED).noneMatch(told::failed);
        }
        assertBystanderIsUntouched("v3");
    }

    @Test
    void noIdentity_everyWatchIsRefusedAsForbidden_andOtherConnectionsGoOn() {
        Config nobody = new ConfigBuilder(real.config())
                .withClientCertData(null)
                .withClientKeyData(null)
                .build();
        try (KubernetesClient client = TestNamespace.through(proxy, nobody);
                Podcache cache = Podcache.builder(client).metrics(told).build()) {
            register(cache, LATE);

            await().until(() -> LATE.stream().allMatch(name -> told.failed(name, FailureReason.FORBIDDEN)));
            assertAllAre(cache, LATE, CacheState.NOT_SYNCED);
            // one or the other attempt fails because too many before it were turned away
            await().untilAsserted(() -> assertThat(
                            cache.secrets().state(shop.name(), LATE.get(0)).lastFailure())
                    .hasMessageContaining("system:anonymous"));
            update(FOLLOWED, "v2");
        }
        assertBystanderIsUntouched("v2");
    }

    private void assertBystanderIsUntouched(String value) {
        awaitAll(bystander, FOLLOWED, value);
        assertAllAre(bystander, FOLLOWED, CacheState.FRESH);
        assertThat(FOLLOWED).noneMatch(toldElsewhere::failed);
        assertThat(toldElsewhere.synced()).isEqualTo(FOLLOWED.size());
    }

    private void register(Podcache cache, List<String> secrets) {
        cache.registerPod(shop.pod("pod-of-" + secrets.get(0), "", secrets.toArray(String[]::new)));
    }

    private void update(List<String> secrets, String value) {
        secrets.forEach(name -> shop.put(name, value));
    }

    private void awaitAll(Podcache cache, List<String> secrets, String value) {
        await().ignoreExceptions()
                .until(() -> secrets.stream()
                        .allMatch(name ->
                                value.equals(Secrets.value(cache.secrets().getObject(shop.name(), name)))));
    }

    private void assertAllAre(Podcache cache, List<String> secrets, CacheState phase) {
        assertThat(secrets)
                .allSatisfy(name -> assertThat(
                                cache.secrets().state(shop.name(), name).cacheState())
                        .isEqualTo(phase));
    }

    private static List<String> names(String prefix, int count) {
        return IntStream.range(0, count).mapToObj(i -> prefix + i).toList();
    }
}
