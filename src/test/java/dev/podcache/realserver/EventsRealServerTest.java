package dev.podcache.realserver;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.kubelet.events.EventBroadcaster;
import dev.podcache.kubelet.events.EventRecorder;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.Needs;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.ServerFeature;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.ObjectReference;
import io.fabric8.kubernetes.api.model.ObjectReferenceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Events as kube-apiserver keeps them and kubectl shows them. */
@RealServerTest
@NullUnmarked
@ExtendWith(NoLeaks.class)
class EventsRealServerTest {

    private final RealApiServer real = RealApiServer.shared();
    private final KubernetesClient admin = real.client();
    private final Fabric8ApiServer server = Fabric8ApiServer.of(admin);
    private final EventBroadcaster events = EventBroadcaster.to(
            server.api(ObjectKind.EVENT, Duration.ofSeconds(10)), "kubelet", "worker-1", server.timekeeper());
    private final String namespace = admin.namespaces()
            .resource(new NamespaceBuilder()
                    .withNewMetadata()
                    .withGenerateName("events-")
                    .endMetadata()
                    .build())
            .create()
            .getMetadata()
            .getName();
    private final ObjectReference web = new ObjectReferenceBuilder()
            .withKind("Pod")
            .withApiVersion("v1")
            .withNamespace(namespace)
            .withName("web")
            .withUid("uid-1")
            .build();

    @AfterEach
    void tearDown() {
        events.close();
        server.close();
        admin.close();
    }

    @Test
    void events_repetitionsAndSimilarOnes_areCountedAndCombined() {
        events.event(web, EventRecorder.EventType.WARNING, "Failed", "no image");
        events.event(web, EventRecorder.EventType.WARNING, "Failed", "no image");
        for (int i = 0; i < 12; i++) {
            events.event(web, EventRecorder.EventType.NORMAL, "Pulling", "image " + i);
        }

        await().until(() -> messages().contains("Normal Pulling x3 (combined from similar events): image 11"));
        assertThat(messages()).hasSize(11).contains("Warning Failed x2 no image", "Normal Pulling x1 image 0");
    }

    @Test
    @Needs(ServerFeature.PRINTERS)
    void event_isShownByKubectl() {
        events.event(web, EventRecorder.EventType.WARNING, "Failed", "no image");

        await().untilAsserted(() -> assertThat(real.kubectl("get", "events", "-n", namespace, "-o", "wide"))
                .containsPattern("Warning +Failed +pod/web +kubelet, worker-1 +no image"));
    }

    private List<String> messages() {
        return admin.v1().events().inNamespace(namespace).list().getItems().stream()
                .map(EventsRealServerTest::text)
                .toList();
    }

    private static String text(Event event) {
        return event.getType() + " " + event.getReason() + " x" + event.getCount() + " " + event.getMessage();
    }
}
