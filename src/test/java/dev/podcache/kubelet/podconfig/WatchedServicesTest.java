package dev.podcache.kubelet.podconfig;

import static dev.podcache.kubelet.podconfig.PodConfigFixture.service;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.object.FailureReason;
import dev.podcache.reflector.Recovery;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.ManualListerWatcher;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.Service;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NoLeaks.class)
class WatchedServicesTest {

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final ManualListerWatcher<Service> server = new ManualListerWatcher<>();
    private final ServiceLister services = ServiceLister.following(server, new Recovery(time, () -> 0.0));

    @AfterEach
    void close() {
        services.close();
    }

    @Test
    void hasSynced_onlyAfterTheFirstList() {
        assertThat(services.hasSynced()).isFalse();
        assertThat(services.inNamespace("shop")).isEmpty();

        answer();

        assertThat(services.hasSynced()).isTrue();
    }

    @Test
    void inNamespace_hasThatNamespaceAloneInOrderOfNames() {
        answer(at("shop", "b"), at("shop", "a"), at("shop-2", "c"), at("sho", "d"), at("shop0", "e"));

        assertThat(names("shop")).containsExactly("a", "b");
    }

    @Test
    void inNamespace_headlessAndWithoutAddress_areNotKept() {
        answer(service("shop", "none", "None", 1), service("shop", "empty", "", 1), service("shop", "null", null, 1));

        assertThat(names("shop")).isEmpty();
    }

    @Test
    void changes_areFollowed() {
        answer(at("shop", "a"), at("shop", "b"));
        server.watch().open();
        server.watch().upsert(at("shop", "c"), "2");
        server.watch().delete(at("shop", "a"), "3");
        server.watch().upsert(service("shop", "b", "None", 1), "4");

        assertThat(names("shop")).containsExactly("c");
    }

    @Test
    void anotherList_replacesWhatIsKnown() {
        answer(at("shop", "a"), at("shop", "b"));
        server.watch().end(new ApiServerException(FailureReason.EXPIRED, 410, null, "answered 410", null));
        time.advance(Duration.ofSeconds(1));
        answer(at("shop", "b"), at("shop", "c"));
        server.watch().open();

        assertThat(names("shop")).containsExactly("b", "c");
    }

    @Test
    @ExpectedWarnings("watch of Services failed; retrying: refused")
    void hasSynced_serverGone_staysTrue() {
        answer(at("shop", "a"));
        server.watch().end(new ApiServerException(FailureReason.UNAVAILABLE, 0, null, "refused", null));

        assertThat(services.hasSynced()).isTrue();
        assertThat(names("shop")).containsExactly("a");
    }

    @Test
    void close_endsTheWatch() {
        answer();
        services.close();

        assertThat(server.watch().closed()).isTrue();
    }

    private void answer(Service... found) {
        server.answer(
                "1",
                Arrays.stream(found)
                        .map(service -> new Fetched<>(service, "1", 1))
                        .toList());
    }

    private List<String> names(String namespace) {
        return services.inNamespace(namespace).stream()
                .map(service -> service.getMetadata().getName())
                .toList();
    }

    private static Service at(String namespace, String name) {
        return service(namespace, name, "10.0.0.1", 80);
    }
}
