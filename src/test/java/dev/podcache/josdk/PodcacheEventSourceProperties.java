package dev.podcache.josdk;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import dev.podcache.testing.Secrets;
import dev.podcache.testkit.FakePodcache;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;

/** Whatever state the event source is in, its answer is the state of the API server. */
class PodcacheEventSourceProperties {

    private static final List<String> NAMES = List.of("db", "cert");

    /** What may happen to the operator, to a website that names both Secrets, and to the Secret {@code db}. */
    enum SourceStep {
        START,
        STOP,
        SEE_PRIMARY,
        SEE_NEWER_PRIMARY,
        SEE_SUCCESSOR,
        DELETE_PRIMARY,
        LEAVE_NAMESPACE,
        PUT,
        DELETE
    }

    @Property
    void secondaryResources_areWhatTheServerHas(@ForAll @Size(max = 40) List<SourceStep> steps) {
        try (FakePodcache cache = new FakePodcache()) {
            PodcacheEventSource<Secret, Website> source = new PodcacheEventSource<>(
                    ObjectKind.SECRET,
                    cache.secrets(),
                    website -> website.getSpec().secrets().stream()
                            .map(name -> ObjectRef.of(ObjectKind.SECRET, "shop", name))
                            .collect(Collectors.toSet()),
                    () -> new ArrayList<Website>().stream(),
                    () -> Runnable::run);
            source.setEventHandler(event -> {});
            Set<String> server = new HashSet<>(Set.of("cert"));
            cache.put(Secrets.of("shop", "cert", "v1"));
            int version = 1;
            String uid = "uid-1";
            for (SourceStep step : steps) {
                Website asking = website(uid, version, NAMES);
                switch (step) {
                    case START -> source.start();
                    case STOP -> source.stop();
                    case SEE_PRIMARY -> source.onResourceCreated(asking);
                    case SEE_NEWER_PRIMARY -> {
                        version++;
                        source.onResourceUpdated(website(uid, version, List.of()), asking);
                    }
                    case SEE_SUCCESSOR -> {
                        version++;
                        uid = "uid-" + version;
                        source.onResourceCreated(website(uid, version, List.of()));
                    }
                    case DELETE_PRIMARY -> source.onResourceDeleted(asking);
                    case LEAVE_NAMESPACE -> source.changeNamespaces(Set.of("elsewhere"));
                    case PUT -> {
                        server.add("db");
                        cache.put(Secrets.of("shop", "db", "v" + version));
                    }
                    case DELETE -> {
                        server.remove("db");
                        cache.remove(ObjectKind.SECRET, "shop", "db");
                    }
                }
                assertThat(source.getSecondaryResources(asking))
                        .extracting(secret -> secret.getMetadata().getName())
                        .containsExactlyInAnyOrderElementsOf(server);
            }
            source.stop();
            assertThat(cache.entries()).isEmpty();
        }
    }

    private static Website website(String uid, int version, List<String> secrets) {
        Website website = new Website();
        website.setMetadata(new ObjectMetaBuilder()
                .withNamespace("shop")
                .withName("one")
                .withUid(uid)
                .withResourceVersion("" + version)
                .build());
        website.setSpec(new WebsiteSpec(secrets));
        return website;
    }
}
