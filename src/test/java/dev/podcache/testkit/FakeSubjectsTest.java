package dev.podcache.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.podcache.manager.Manager;
import dev.podcache.manager.ObjectEvent;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import dev.podcache.object.ObjectUnavailableException.Denied;
import dev.podcache.object.ObjectUnavailableException.NotRegistered;
import dev.podcache.object.Referrer;
import dev.podcache.object.Subject;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Owners on behalf of subjects, with a cache that has no server. */
@ExtendWith(NoLeaks.class)
class FakeSubjectsTest {

    private static final Subject JANE = Subject.serviceAccount("shop", "jane");
    private static final Subject JOHN = Subject.serviceAccount("shop", "john");

    private final FakePodcache cache = new FakePodcache();
    private final Manager<Secret> secrets = cache.secrets();
    private final Referrer janes = owner("janes").onBehalfOf(JANE);
    private final Referrer johns = owner("johns").onBehalfOf(JOHN);

    private static Referrer owner(String name) {
        return Referrer.of(new PodBuilder()
                .withNewMetadata()
                .withNamespace("shop")
                .withName(name)
                .withUid("uid-" + name)
                .endMetadata()
                .build());
    }

    @BeforeEach
    void register() {
        cache.put(Secrets.of("shop", "db", "v1"));
        Set<ObjectRef> references = Set.of(ObjectRef.of(ObjectKind.SECRET, "shop", "db"));
        cache.register(janes, references);
        cache.register(johns, references);
    }

    @AfterEach
    void close() {
        cache.close();
    }

    private String valueFor(Referrer owner) {
        return Secrets.value(secrets.getObject(owner, "shop", "db"));
    }

    @Test
    void undeniedSubject_readsForItsOwner_andNobodyElse() {
        assertThat(valueFor(janes)).isEqualTo("v1");
        assertThatIllegalArgumentException().isThrownBy(() -> valueFor(owner("janes")));
        assertThatExceptionOfType(NotRegistered.class).isThrownBy(() -> secrets.getObject("shop", "db"));
    }

    @Test
    void deniedSubject_readsNothingUntilItIsAllowed() {
        cache.deny(JANE, ObjectKind.SECRET, "shop", "db");

        assertThatExceptionOfType(Denied.class)
                .isThrownBy(() -> valueFor(janes))
                .withMessageContaining("shop/db")
                .withMessageContaining("system:serviceaccount:shop:jane")
                .withMessageContaining("the test denies it");
        assertThat(secrets.peek(janes, "shop", "db")).isEmpty();
        assertThat(valueFor(johns)).isEqualTo("v1");
        cache.allow(JANE, ObjectKind.SECRET, "shop", "db");
        assertThat(valueFor(janes)).isEqualTo("v1");
    }

    @Test
    void deniedBeforeItsRegistration_readsNothing() {
        cache.deny(JANE, ObjectKind.SECRET, "shop", "cert");
        cache.put(Secrets.of("shop", "cert", "v1"));
        cache.register(janes, Set.of(ObjectRef.of(ObjectKind.SECRET, "shop", "cert")));

        assertThatExceptionOfType(Denied.class).isThrownBy(() -> secrets.getObject(janes, "shop", "cert"));
    }

    @Test
    void listener_isToldOfDenialAndOfPermission() throws Exception {
        List<String> told = new ArrayList<>();
        AutoCloseable subscription = secrets.listen(
                Runnable::run,
                (ObjectEvent<Secret> event) -> told.add(event.type() + " "
                        + event.referrers().stream().map(Referrer::uid).sorted().toList()));
        told.clear();
        cache.deny(JANE, ObjectKind.SECRET, "shop", "db");
        cache.put(Secrets.of("shop", "db", "v2"));
        cache.allow(JANE, ObjectKind.SECRET, "shop", "db");
        subscription.close();

        assertThat(told).startsWith("DENIED [uid-janes]", "UPDATED [uid-johns]", "ALLOWED [uid-janes]");
    }

    @Test
    void denial_ofAnIllegalName_isRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> cache.deny(JANE, ObjectKind.SECRET, "shop", "No Name"))
                .withMessageContaining("No Name");
    }
}
