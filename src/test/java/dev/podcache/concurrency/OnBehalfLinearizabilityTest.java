package dev.podcache.concurrency;

import dev.podcache.apiserver.CachedReviews;
import dev.podcache.manager.Manager;
import dev.podcache.manager.Managers;
import dev.podcache.metrics.CountedEvents;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException.Denied;
import dev.podcache.object.ObjectUnavailableException.NotRegistered;
import dev.podcache.object.Referrer;
import dev.podcache.object.Subject;
import dev.podcache.store.DirectObjectStore;
import dev.podcache.store.Store;
import dev.podcache.store.StoreOptions;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.ManualReviews;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.Set;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.junit.jupiter.api.Test;

/**
 * Registering one owner with one subject or another at once, while its right is reviewed again and again, leaves what one of
 * the orders would have left: each read is answered as the subject that is registered then may read.
 */
@Param(name = "subject", gen = IntGen.class, conf = "0:2")
public class OnBehalfLinearizabilityTest {

    private static final Subject WEB = Subject.serviceAccount("default", "web");
    private static final Subject MAIL = Subject.serviceAccount("default", "mail");
    private static final Referrer OWNER = () -> "uid";

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final FakeApiServer server = new FakeApiServer(time);
    private final ManualReviews reviews = new ManualReviews();
    private final CachedReviews cached = new CachedReviews(reviews, false, time);
    private final Manager<Secret> manager;

    public OnBehalfLinearizabilityTest() {
        Store<Secret> watched = new SharedSecret.WatchedServer().store();
        reviews.answerBy((subject, access) -> subject.equals(WEB));
        manager = new Managers(
                        new Managers.Stores() {
                            @Override
                            @SuppressWarnings("unchecked") // the store of Secrets is for Secrets
                            public <T extends HasMetadata> Store<T> storeOf(ObjectKind<T> kind) {
                                return kind.equals(ObjectKind.SECRET)
                                        ? (Store<T>) watched
                                        : new DirectObjectStore<>(
                                                kind, server.getter(kind), StoreOptions.defaults(time));
                            }

                            @Override
                            public boolean countsReferences(ObjectKind<?> kind) {
                                return kind.equals(ObjectKind.SECRET);
                            }
                        },
                        new CountedEvents(PodcacheMetrics.NONE),
                        false,
                        Set.of(),
                        cached)
                .of(ObjectKind.SECRET);
    }

    private static Referrer owner(int subject) {
        return switch (subject) {
            case 0 -> OWNER;
            case 1 -> OWNER.onBehalfOf(WEB);
            default -> OWNER.onBehalfOf(MAIL);
        };
    }

    @Operation
    public void register(@Param(name = "subject") int subject) {
        manager.register(owner(subject), Set.of(ObjectKey.of("default", "a")));
    }

    @Operation
    public void unregister() {
        manager.unregister(OWNER);
    }

    /** Has the rights reviewed again, which changes none. */
    @Operation
    public void review() {
        cached.accessChanged("default");
        time.advance(Duration.ofMillis(100));
    }

    @Operation
    public String get(@Param(name = "subject") int subject) {
        try {
            return Secrets.value(manager.getObject(owner(subject), "default", "a"));
        } catch (NotRegistered e) {
            return "not registered";
        } catch (IllegalArgumentException e) {
            return "another subject";
        } catch (Denied e) {
            return "denied";
        }
    }

    @Operation
    public String getWithoutOwner() {
        try {
            return Secrets.value(manager.getObject("default", "a"));
        } catch (NotRegistered e) {
            return "not registered";
        }
    }

    @Test
    void registrationsReviewsAndReads_areLinearizable() {
        Linearizability.check(OnBehalfLinearizabilityTest.class);
    }
}
