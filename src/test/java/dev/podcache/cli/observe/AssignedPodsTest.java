package dev.podcache.cli.observe;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.ImmutableList;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.cli.output.RecordedOutput;
import dev.podcache.object.FailureReason;
import dev.podcache.pod.PodReferences;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class AssignedPodsTest {

    private final RecordingRegistry registry = new RecordingRegistry();
    private final RecordedOutput recorded = RecordedOutput.ofText();
    private final AssignedPods assigned = new AssignedPods(registry::register, registry::unregister, recorded.events());

    @Test
    void upsert_newPod_isRegisteredAndReported() {
        assigned.upsert(fetched(pod("cart", "u1", "db")));

        assertThat(registry.calls).containsExactly("register shop/cart(u1)");
        assertThat(recorded.lines())
                .containsExactly("   0.0s  registered   pod shop/cart                    Secrets 1, ConfigMaps 0");
    }

    @Test
    void upsert_knownPod_isRegisteredAgainWithoutAReport() {
        assigned.upsert(fetched(pod("cart", "u1", "db")));
        assigned.upsert(fetched(pod("cart", "u1", "db")));

        assertThat(registry.calls).containsExactly("register shop/cart(u1)", "register shop/cart(u1)");
        assertThat(recorded.lines()).hasSize(1);
    }

    @Test
    void upsert_podThatRefersToSomethingElse_isReportedAsChanged() {
        assigned.upsert(fetched(pod("cart", "u1", "db")));
        assigned.upsert(fetched(pod("cart", "u1", "other")));

        assertThat(recorded.lines()).hasSize(2).last().asString().contains("changed      pod shop/cart");
    }

    @Test
    void upsert_succeededPod_isUnregistered() {
        assigned.upsert(fetched(pod("job", "u1", "db")));
        assigned.upsert(fetched(ended("job", "u1", "Succeeded")));

        assertThat(registry.calls).containsExactly("register shop/job(u1)", "unregister shop/job(u1)");
        assertThat(recorded.lines()).last().asString().contains("unregistered pod shop/job: phase Succeeded");
        assertThat(assigned.pods()).isEmpty();
    }

    @Test
    void upsert_failedPodThatWasNeverRunning_isNotRegistered() {
        assigned.upsert(fetched(ended("job", "u1", "Failed")));

        assertThat(registry.calls).isEmpty();
        assertThat(recorded.lines()).isEmpty();
    }

    @Test
    void upsert_podBeingDeleted_staysRegistered() {
        Pod terminating = new PodBuilder(pod("cart", "u1", "db"))
                .editMetadata()
                .withDeletionTimestamp("2026-01-01T00:00:00Z")
                .endMetadata()
                .build();

        assigned.upsert(fetched(terminating));

        assertThat(registry.calls).containsExactly("register shop/cart(u1)");
        assertThat(assigned.pods()).hasSize(1);
    }

    @Test
    void delete_predecessorOfTheSameName_keepsTheSuccessorRegistered() {
        assigned.upsert(fetched(pod("cart", "u1", "db")));
        assigned.upsert(fetched(pod("cart", "u2", "db")));
        assigned.delete(fetched(pod("cart", "u1", "db")));

        assertThat(registry.calls)
                .containsExactly("register shop/cart(u1)", "register shop/cart(u2)", "unregister shop/cart(u1)");
        assertThat(assigned.pods()).hasSize(1);
    }

    @Test
    void delete_registeredPod_isUnregistered() {
        assigned.upsert(fetched(pod("cart", "u1", "db")));
        assigned.delete(fetched(pod("cart", "u1", "db")));

        assertThat(registry.calls).containsExactly("register shop/cart(u1)", "unregister shop/cart(u1)");
        assertThat(assigned.pods()).isEmpty();
    }

    @Test
    void delete_unknownPod_isIgnored() {
        assigned.delete(fetched(pod("cart", "u1", "db")));

        assertThat(registry.calls).isEmpty();
    }

    @Test
    void replace_afterARelist_unregistersThoseThatVanished() {
        assigned.upsert(fetched(pod("cart", "u1", "db")));
        assigned.upsert(fetched(pod("web", "u2", "tls")));
        registry.calls.clear();

        assigned.replace(ImmutableList.of(fetched(pod("web", "u2", "tls")), fetched(pod("mail", "u3", "smtp"))), "9");

        assertThat(registry.calls)
                .containsExactly("register shop/web(u2)", "register shop/mail(u3)", "unregister shop/cart(u1)");
        assertThat(recorded.lines()).last().asString().contains("unregistered pod shop/cart: gone");
    }

    @Test
    void replace_nothing_saysThatThereAreNoPods() {
        assigned.replace(ImmutableList.of(), "9");

        assertThat(recorded.lines()).containsExactly("   0.0s  idle         no pods are assigned to this node");
    }

    @Test
    void replace_podRecreatedWhileNobodyWatched_isReplaced() {
        assigned.upsert(fetched(pod("cart", "u1", "db")));
        registry.calls.clear();

        assigned.replace(ImmutableList.of(fetched(pod("cart", "u2", "db"))), "9");

        assertThat(registry.calls).containsExactly("register shop/cart(u2)", "unregister shop/cart(u1)");
    }

    @Test
    void replace_podThatEndedWhileNobodyWatched_isUnregistered() {
        assigned.upsert(fetched(pod("job", "u1", "db")));
        registry.calls.clear();

        assigned.replace(ImmutableList.of(fetched(ended("job", "u1", "Succeeded"))), "9");

        assertThat(registry.calls).containsExactly("unregister shop/job(u1)");
    }

    @Test
    void upsert_podThatCannotBeRegistered_isReportedAndTheNextOneIsRegistered() {
        Pod withoutUid = new PodBuilder(pod("odd", "u1", "db"))
                .editMetadata()
                .withUid(null)
                .endMetadata()
                .build();

        assigned.replace(ImmutableList.of(fetched(withoutUid), fetched(pod("cart", "u2", "db"))), "9");

        assertThat(registry.calls).containsExactly("register shop/cart(u2)");
        assertThat(recorded.lines()).first().asString().contains("refused      pod shop/odd has no metadata.uid");
    }

    @Test
    void disconnected_severalTimes_isReportedOnceUntilConnectedAgain() {
        ApiServerException down =
                ApiServerException.withoutAnswer(FailureReason.UNAVAILABLE, "WATCH pods", "connection refused", null);

        assigned.connected();
        assigned.disconnected(down);
        assigned.disconnected(down);
        assigned.connected();

        assertThat(recorded.lines())
                .containsExactly(
                        "   0.0s  disconnected WATCH pods: connection refused",
                        "   0.0s  connected    the pods of this node are watched again");
    }

    private static Pod pod(String name, String uid, String secret) {
        return new PodBuilder()
                .withNewMetadata()
                .withNamespace("shop")
                .withName(name)
                .withUid(uid)
                .endMetadata()
                .withNewSpec()
                .addNewVolume()
                .withNewSecret()
                .withSecretName(secret)
                .endSecret()
                .endVolume()
                .endSpec()
                .build();
    }

    private static Pod ended(String name, String uid, String phase) {
        return new PodBuilder(pod(name, uid, "db"))
                .withNewStatus()
                .withPhase(phase)
                .endStatus()
                .build();
    }

    private static Fetched<Pod> fetched(Pod pod) {
        return new Fetched<>(pod, "1", 100);
    }

    private static final class RecordingRegistry {

        final List<String> calls = new ArrayList<>();

        void register(Pod pod) {
            calls.add("register " + PodReferences.key(pod));
        }

        void unregister(Pod pod) {
            calls.add("unregister " + PodReferences.key(pod));
        }
    }
}
