package dev.podcache.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.ImmutableSet;
import com.google.common.collect.ImmutableSetMultimap;
import dev.podcache.cli.access.StrategyAccess;
import dev.podcache.cli.config.ObjectId;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import org.junit.jupiter.api.Test;

class AccessDiagnosesTest {

    private static final ObjectId DB = new ObjectId(ObjectKind.SECRET, ObjectKey.of("shop", "db"));
    private static final ObjectId SETTINGS = new ObjectId(ObjectKind.CONFIG_MAP, ObjectKey.of("shop", "settings"));
    private static final String READER = "system:serviceaccount:shop:reader";

    @Test
    void roles_missingVerbs_areASmallestRoleForTheAccount() {
        AccessDiagnoses diagnoses = of(READER, ImmutableSetMultimap.of(DB, "list", DB, "watch", SETTINGS, "watch"));

        assertThat(diagnoses.diagnoses())
                .singleElement()
                .extracting(Diagnosis::what)
                .isEqualTo(READER + " may not list ConfigMap shop/settings");
        assertThat(diagnoses.roles()).hasSize(2);
        assertThat(diagnoses.roles().toString())
                .contains("resources=[configmaps], resourceNames=[settings], verbs=[list]")
                .contains("kind=ServiceAccount, name=reader, namespace=shop")
                .doesNotContain("secrets");
    }

    @Test
    void roles_otherVerbsMissing_haveAnotherName() {
        String one = name(ImmutableSetMultimap.of(DB, "list", DB, "watch"));
        String other = name(ImmutableSetMultimap.of(SETTINGS, "list"));

        assertThat(one).startsWith("podcache-").isNotEqualTo(other);
    }

    @Test
    void roles_ofANodeOrAnUnknownUser_areNone() {
        assertThat(of("system:node:worker-1", ImmutableSetMultimap.of()).roles())
                .isEmpty();
        assertThat(of("system:node:worker-1", ImmutableSetMultimap.of()).diagnoses())
                .hasSize(4)
                .allSatisfy(each -> assertThat(each.remedy()).contains("bind a pod to this node"));
        assertThat(of("", ImmutableSetMultimap.of()).roles()).isEmpty();
        assertThat(of("", ImmutableSetMultimap.of()).diagnoses())
                .allSatisfy(each -> assertThat(each.remedy()).startsWith("grant "));
    }

    @Test
    void diagnoses_getInsteadOfList_isANoteAndNoRole() {
        AccessDiagnoses diagnoses =
                of(READER, ImmutableSetMultimap.of(DB, "get", DB, "watch", SETTINGS, "list", SETTINGS, "watch"));

        assertThat(diagnoses.diagnoses()).singleElement().satisfies(note -> {
            assertThat(note.level()).isEqualTo(Diagnosis.Level.NOTE);
            assertThat(note.what()).isEqualTo(READER + " may not list Secret shop/db, but may get it");
        });
        assertThat(diagnoses.roles()).isEmpty();
    }

    @Test
    void diagnoses_watchAlone_saysWhereThatIsEnough() {
        AccessDiagnoses diagnoses = of(READER, ImmutableSetMultimap.of(DB, "watch", SETTINGS, "list"));

        assertThat(diagnoses.diagnoses())
                .extracting(Diagnosis::what, Diagnosis::why)
                .satisfiesExactly(
                        list -> assertThat(list.toString())
                                .contains("may not list Secret shop/db", "from 1.34 on): then watch alone is enough"),
                        watch -> assertThat(watch.toString())
                                .contains("may not watch ConfigMap shop/settings")
                                .doesNotContain("enough"));
    }

    /** An agent gets what it polls with every strategy, and requests the tokens of its pods. */
    @Test
    void roles_ofAnAgent_areForWhatItAsks() {
        ObjectId certificates = new ObjectId(ObjectKind.CONFIG_MAP, ObjectKey.of("shop", "kube-root-ca.crt"));
        AccessDiagnoses diagnoses = new AccessDiagnoses(
                StrategyAccess.WATCH,
                ImmutableSet.of(certificates),
                ImmutableSetMultimap.of(),
                READER,
                true,
                ImmutableSet.of(ObjectKey.of("shop", "default")));

        assertThat(diagnoses.diagnoses())
                .extracting(Diagnosis::what)
                .containsExactly(
                        READER + " may not create serviceaccounts/token for shop/default",
                        READER + " may not get ConfigMap shop/kube-root-ca.crt");
        assertThat(diagnoses.roles().toString())
                .contains("resources=[serviceaccounts/token], resourceNames=[default], verbs=[create]")
                .contains("resources=[configmaps], resourceNames=[kube-root-ca.crt], verbs=[get]");
    }

    private static String name(ImmutableSetMultimap<ObjectId, String> allowed) {
        return String.valueOf(of(READER, allowed).roles().get(0).get("metadata"))
                .replaceAll(".*name=(podcache-\\w+).*", "$1");
    }

    private static AccessDiagnoses of(String user, ImmutableSetMultimap<ObjectId, String> allowed) {
        return new AccessDiagnoses(StrategyAccess.WATCH, ImmutableSet.of(DB, SETTINGS), allowed, user);
    }
}
