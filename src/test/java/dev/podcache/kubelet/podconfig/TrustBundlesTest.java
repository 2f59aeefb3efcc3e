package dev.podcache.kubelet.podconfig;

import static dev.podcache.testing.FakeTrustBundles.bundle;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.credentials.PemText;
import dev.podcache.kubelet.runtime.VolumeFile;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.FakeTrustBundles;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.ClusterTrustBundleProjection;
import io.fabric8.kubernetes.api.model.ClusterTrustBundleProjectionBuilder;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The cases of upstream's TestCollectDataWithClusterTrustBundle and of its clustertrustbundle manager, and some more. */
@ExtendWith(NoLeaks.class)
class TrustBundlesTest {

    private static final String A = PemText.of("CERTIFICATE", new byte[] {1, 1});
    private static final String B = PemText.of("CERTIFICATE", new byte[] {(byte) 200, 2});
    private static final String SIGNER = "example.com/signer";
    private static final LabelSelector ALL = new LabelSelector();

    private final PodConfigFixture f = new PodConfigFixture();

    @AfterEach
    void close() {
        f.close();
    }

    private static ClusterTrustBundleProjection named(String name, @Nullable Boolean optional) {
        return new ClusterTrustBundleProjectionBuilder()
                .withName(name)
                .withOptional(optional)
                .withPath("ca.pem")
                .build();
    }

    private static ClusterTrustBundleProjection signed(
            String signer, @Nullable LabelSelector selector, @Nullable Boolean optional) {
        return new ClusterTrustBundleProjectionBuilder()
                .withSignerName(signer)
                .withLabelSelector(selector)
                .withOptional(optional)
                .withPath("ca.pem")
                .build();
    }

    private static Volume volume(ClusterTrustBundleProjection projection) {
        return new VolumeBuilder()
                .withName("trust")
                .withNewProjected()
                .withDefaultMode(0644)
                .addNewSource()
                .withClusterTrustBundle(projection)
                .endSource()
                .endProjected()
                .build();
    }

    private static Pod pod(Volume volume) {
        return new PodBuilder(PodConfigFixture.pod(PodConfigFixture.NS, new Container()))
                .editSpec()
                .withVolumes(volume)
                .endSpec()
                .build();
    }

    private String content(ClusterTrustBundleProjection projection) {
        Map<String, VolumeFile> files = f.payload(volume(projection));
        assertThat(files).containsOnlyKeys("ca.pem");
        return new String(Objects.requireNonNull(files.get("ca.pem")).bytes(), UTF_8);
    }

    @Test
    void named_isItsCertificates() {
        f.trustBundles.put(bundle("roots", null, Map.of(), A + B));

        assertThat(content(named("roots", null))).isEqualTo(A + B);
        assertThat(f.trustBundles.lists).as("lists of all").hasValue(0);
    }

    /** A bundle of a signer has the signer in its name. */
    @Test
    void named_withColons_isFound() {
        f.trustBundles.put(bundle("example.com:signer:v1", SIGNER, Map.of(), A));

        assertThat(content(named("example.com:signer:v1", null))).isEqualTo(A);
    }

    @Test
    void named_duplicatesHeadersAndTexts_areDropped_andTheOrderIsThatOfTheBytes() {
        String withHeader = A.replace("-----BEGIN CERTIFICATE-----\n", "-----BEGIN CERTIFICATE-----\nNote: x\n\n");
        String other = PemText.of("PRIVATE KEY", new byte[] {3});
        f.trustBundles.put(bundle("roots", null, Map.of(), "text\n" + B + withHeader + other + A + "more"));

        assertThat(content(named("roots", null))).isEqualTo(A + B);
    }

    @Test
    void named_missing_failsInAKubeletsWords_unlessOptional() {
        assertThatThrownBy(() -> content(named("roots", false)))
                .isInstanceOf(PodConfigException.class)
                .hasMessage(
                        "while getting ClusterTrustBundle: clustertrustbundle.certificates.k8s.io \"roots\" not found");
        assertThat(content(named("roots", true))).isEmpty();
    }

    @Test
    void named_illegalName_isRefused() {
        assertThatThrownBy(() -> content(named("Roots!", false)))
                .hasMessageStartingWith("while getting ClusterTrustBundle: invalid name: name \"Roots!\"");
    }

    @Test
    void named_cannotBeRead_failsThoughOptional(NoLeaks leaks) {
        leaks.allowWarnings("watch of ClusterTrustBundle roots failed");
        f.trustBundles.fail("roots", FailureReason.FORBIDDEN);

        assertThatThrownBy(() -> content(named("roots", true)))
                .isInstanceOf(PodConfigException.class)
                .hasMessageStartingWith("while getting ClusterTrustBundle: ");
    }

    @Test
    void signed_mergesThoseThatTheSelectorSelects() {
        f.trustBundles.put(bundle("b", SIGNER, Map.of("live", "yes"), B));
        f.trustBundles.put(bundle("a", SIGNER, Map.of("live", "yes"), B + A));
        f.trustBundles.put(bundle("old", SIGNER, Map.of("live", "no"), PemText.of("CERTIFICATE", new byte[] {9})));
        f.trustBundles.put(
                bundle("other", "example.com/other", Map.of("live", "yes"), PemText.of("CERTIFICATE", new byte[] {8})));
        f.trustBundles.put(bundle("none", null, Map.of("live", "yes"), PemText.of("CERTIFICATE", new byte[] {7})));

        assertThat(content(signed(
                        SIGNER,
                        new LabelSelectorBuilder()
                                .addToMatchLabels("live", "yes")
                                .build(),
                        null)))
                .isEqualTo(A + B);
    }

    @Test
    void signed_noSelector_selectsNothing_andAnEmptyOne_everything() {
        f.trustBundles.put(bundle("a", SIGNER, Map.of(), A));

        assertThat(content(signed(SIGNER, ALL, null))).isEqualTo(A);
        assertThatThrownBy(() -> content(signed(SIGNER, null, null)))
                .isInstanceOf(PodConfigException.class)
                .hasMessage("combination of signerName and labelSelector matched zero ClusterTrustBundles");
        assertThat(content(signed(SIGNER, null, true))).isEmpty();
    }

    @Test
    void signed_labelIsNull_isNoLabelThatStopsTheOthers() {
        GenericKubernetesResource odd = bundle("b", SIGNER, Map.of(), B);
        odd.getMetadata().setLabels(Collections.singletonMap("k", null));
        f.trustBundles.put(odd);
        f.trustBundles.put(bundle("a", SIGNER, Map.of(), A));

        assertThat(content(signed(SIGNER, ALL, null))).isEqualTo(A + B);
    }

    @Test
    void signed_bundlesWithoutAName_stopNobody() {
        f.trustBundles.put(bundle("a", SIGNER, Map.of(), A));
        assertThat(content(signed(SIGNER, ALL, null))).isEqualTo(A);

        f.trustBundles.sendNameless();
        f.trustBundles.put(bundle("b", SIGNER, Map.of(), B));

        assertThat(content(signed(SIGNER, ALL, null))).isEqualTo(A + B);
        assertThat(f.trustBundles.lists).as("lists: the watch went on").hasValue(1);
    }

    @Test
    void found_receiverThrows_podsGetTheirBundles(NoLeaks leaks) {
        leaks.allowWarnings("cannot give ClusterTrustBundles to the receiver of what is served; continuing");
        f.failsWhenFound = true;
        f.trustBundles.put(bundle("roots", null, Map.of(), A));

        assertThat(content(named("roots", null))).isEqualTo(A);
    }

    @Test
    void found_onePodThrows_othersGetTheirBundles_andItDoesAtItsNextSync(NoLeaks leaks) {
        leaks.allowWarnings("cannot give ClusterTrustBundles to the pod with UID uid-1; continuing");
        CompletableFuture<Optional<ObjectKind<GenericKubernetesResource>>> later = new CompletableFuture<>();
        f.trustBundles.answer = later;
        Pod pod = f.register(pod(volume(named("a", null))));
        f.trustBundles.failingRegistrations.set(1);
        later.complete(Optional.of(FakeTrustBundles.KIND));
        assertThat(f.trustBundles.held()).isEmpty();

        f.register(pod);

        assertThat(f.trustBundles.held()).containsExactly("a");
    }

    @Test
    void register_fails_isTriedAgainAtTheNextSync() {
        f.trustBundles.put(bundle("a", null, Map.of(), A));
        assertThat(content(named("a", null))).isEqualTo(A);
        Pod changed = pod(volume(named("b", null)));
        f.trustBundles.failingRegistrations.set(1);
        assertThatThrownBy(() -> f.register(changed)).hasMessage("register fails for the test");

        f.register(changed);

        assertThat(f.trustBundles.held()).containsExactly("b");
    }

    @Test
    void register_failsAndThePodGoes_nothingIsHeld() {
        f.trustBundles.put(bundle("a", null, Map.of(), A));
        Pod pod = f.register(pod(volume(named("a", null))));
        assertThat(f.trustBundles.held()).containsExactly("a");
        f.trustBundles.failingRegistrations.set(1);
        assertThatThrownBy(() -> f.register(pod(volume(named("b", null))))).hasMessage("register fails for the test");

        f.bundles.unregister(pod);

        assertThat(f.trustBundles.held()).isEmpty();
    }

    @Test
    void named_damagedOrEmptyBlocks_areDropped() {
        String damaged = "-----BEGIN CERTIFICATE-----\nA!Q=ID\n-----END CERTIFICATE-----\n";
        String empty = "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n";
        f.trustBundles.put(bundle("roots", null, Map.of(), damaged + empty + A));

        assertThat(content(named("roots", null))).isEqualTo(A);
    }

    @Test
    void signed_wrongSelector_failsByTheOperator_alsoWithoutBundles() {
        LabelSelector wrong = new LabelSelectorBuilder()
                .addNewMatchExpression()
                .withKey("k")
                .withOperator("Near")
                .endMatchExpression()
                .build();

        assertThatThrownBy(() -> content(signed(SIGNER, wrong, true)))
                .hasMessage("while parsing label selector: \"Near\" is not a valid label selector operator");
    }

    @Test
    void neitherNameNorSigner_fails() {
        assertThatThrownBy(() -> content(new ClusterTrustBundleProjectionBuilder()
                        .withPath("ca.pem")
                        .build()))
                .hasMessage("clusterTrustBundle of a projected volume has neither name nor signerName");
    }

    /** As upstream: like that of a token. */
    @Test
    void file_ofAPodWithAGroupOrOneUser_isForItsOwnerOnly() {
        f.trustBundles.put(bundle("roots", null, Map.of(), A));
        Volume volume = volume(named("roots", null));
        Pod withGroup = new PodBuilder(pod(volume))
                .editSpec()
                .withNewSecurityContext()
                .withFsGroup(5L)
                .endSecurityContext()
                .endSpec()
                .build();
        Pod ofOneUser = new PodBuilder(pod(volume))
                .editSpec()
                .withNewSecurityContext()
                .withRunAsUser(7L)
                .endSecurityContext()
                .endSpec()
                .build();

        assertThat(file(f.register(pod(volume)), volume)).isEqualTo(VolumeFile.of(A.getBytes(UTF_8), 0644));
        assertThat(file(withGroup, volume)).isEqualTo(VolumeFile.of(A.getBytes(UTF_8), 0600));
        assertThat(file(ofOneUser, volume))
                .isEqualTo(VolumeFile.of(A.getBytes(UTF_8), 0600).ownedBy(7));
    }

    private VolumeFile file(Pod pod, Volume volume) {
        return Objects.requireNonNull(
                f.payloads().of(pod, volume, PodConfigFixture.PLACEMENT).get("ca.pem"));
    }

    @Test
    void serverHasNone_isRefusedByName_andAskedAgainAfterAWhile() {
        f.trustBundles.answer = CompletableFuture.completedFuture(Optional.empty());

        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(() -> content(named("roots", true)))
                    .isInstanceOf(PodConfigException.class)
                    .hasMessage("ClusterTrustBundle projection is not supported: the API server does not serve"
                            + " clustertrustbundles of certificates.k8s.io");
        }
        assertThat(f.trustBundles.questions).hasValue(1);

        f.trustBundles.answer = CompletableFuture.completedFuture(Optional.of(FakeTrustBundles.KIND));
        f.trustBundles.put(bundle("roots", null, Map.of(), A));
        f.timekeeper.advance(Duration.ofSeconds(10));

        assertThat(content(named("roots", null))).isEqualTo(A);
        assertThat(content(named("roots", null))).isEqualTo(A);
        assertThat(f.trustBundles.questions).hasValue(2);
    }

    @Test
    void serverDoesNotSay_failsWithTheCause() {
        f.trustBundles.answer = CompletableFuture.failedFuture(
                ApiServerException.withoutAnswer(FailureReason.UNAVAILABLE, "GET /apis", "no route", null));

        assertThatThrownBy(() -> content(signed(SIGNER, ALL, true)))
                .hasMessageStartingWith("failed to ensure informer manager for ClusterTrustBundles: ")
                .hasMessageContaining("no route");
    }

    @Test
    void podWithoutABundle_asksForNothing() {
        f.register(PodConfigFixture.pod(PodConfigFixture.NS, new Container()));

        assertThat(f.trustBundles.questions).hasValue(0);
    }

    @Test
    void signedBundleChanges_itsPodsAreTold_andNoOthers() {
        f.trustBundles.put(bundle("a", SIGNER, Map.of(), A));
        assertThat(content(signed(SIGNER, ALL, null))).isEqualTo(A);
        f.changedBundles.clear();

        f.trustBundles.put(bundle("x", "example.com/other", Map.of(), B));
        assertThat(f.changedBundles).isEmpty();

        f.trustBundles.put(bundle("b", SIGNER, Map.of(), B));
        assertThat(f.changedBundles).containsExactly("uid-1");
        f.trustBundles.put(bundle("b", SIGNER, Map.of(), B));
        assertThat(f.changedBundles).as("the same again").containsExactly("uid-1");

        f.trustBundles.remove("b");
        assertThat(f.changedBundles).containsExactly("uid-1", "uid-1");
        assertThat(content(signed(SIGNER, ALL, null))).isEqualTo(A);
    }

    @Test
    void unregistered_holdsNothing_andIsToldNothing() {
        f.trustBundles.put(bundle("a", SIGNER, Map.of(), A));
        Pod both = new PodBuilder(pod(volume(signed(SIGNER, ALL, null))))
                .editSpec()
                .addToVolumes(volume(named("a", null)))
                .endSpec()
                .build();
        f.register(both);
        assertThat(f.trustBundles.held()).containsExactly("a");

        f.bundles.unregister(both);
        f.changedBundles.clear();
        f.trustBundles.put(bundle("a", SIGNER, Map.of(), B));

        assertThat(f.trustBundles.held()).isEmpty();
        assertThat(f.changedBundles).isEmpty();
    }

    @Test
    void registeredBeforeTheServerSays_isHeldOnceItDoes() {
        CompletableFuture<Optional<ObjectKind<GenericKubernetesResource>>> later = new CompletableFuture<>();
        f.trustBundles.answer = later;
        f.register(pod(volume(named("a", null))));
        assertThat(f.trustBundles.held()).isEmpty();

        later.complete(Optional.of(FakeTrustBundles.KIND));

        assertThat(f.trustBundles.held()).isEqualTo(List.of("a"));
    }
}
