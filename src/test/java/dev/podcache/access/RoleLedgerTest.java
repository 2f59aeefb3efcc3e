package dev.podcache.access;

import static dev.podcache.access.RoleLedgerProperties.POLICY;
import static dev.podcache.access.RoleLedgerProperties.SHELF;
import static dev.podcache.access.RoleLedgerProperties.WEBSITE;
import static dev.podcache.access.RoleLedgerProperties.owner;
import static dev.podcache.access.RoleLedgerProperties.secrets;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.ImmutableSortedSet;
import dev.podcache.access.RoleLedger.CreateRole;
import dev.podcache.access.RoleLedger.PatchRole;
import dev.podcache.access.RoleLedger.RereadRole;
import dev.podcache.access.RoleLedger.RoleAction;
import dev.podcache.access.RoleLedger.SubjectQuestion;
import dev.podcache.access.RoleLedger.SubjectVerdict;
import dev.podcache.access.RoleLedger.TellOfRole;
import dev.podcache.access.RoleLedger.TellOwner;
import dev.podcache.access.RolePolicy.GrantOwner;
import dev.podcache.access.RolePolicy.OwnerKind;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RoleLedgerTest {

    private final RoleLedger ledger = new RoleLedger(POLICY, () -> 0.5);
    private long now;
    private long version = 10;

    private static RoleContent role(long version, String policy, String... names) {
        return new RoleContent(String.valueOf(version), "role-uid", secrets("shop", Set.of(names)), true, policy);
    }

    private void selectAndListRole(RoleContent... role) {
        ledger.namespace("shop", true, false, now);
        ledger.roleListed("shop", role.length == 0 ? null : role[0], "10", now);
    }

    private void listNoOwners() {
        ledger.ownersListed(WEBSITE, "shop", List.of(), now);
        ledger.ownersListed(SHELF, "shop", List.of(), now);
    }

    private List<RoleAction> actionsAfter(Duration pause) {
        now += pause.toNanos();
        return ledger.actions(now, true);
    }

    /** Does all writes at once until there are no more, and returns what the last one wrote and every event. */
    private List<RoleAction> settled() {
        List<RoleAction> all = new ArrayList<>();
        for (int i = 0; i < 50 && ledger.nextAt() != Long.MAX_VALUE; i++) {
            now = Math.max(now, ledger.nextAt());
            for (RoleAction action : ledger.actions(now, true)) {
                all.add(action);
                if (action instanceof CreateRole) {
                    all.addAll(ledger.written("shop", role(++version, "orders"), now));
                } else if (action instanceof PatchRole patch) {
                    all.addAll(ledger.written(
                            "shop",
                            new RoleContent(String.valueOf(++version), "role-uid", patch.names(), true, "orders"),
                            now));
                }
            }
        }
        return all;
    }

    private static Set<String> lastNames(List<RoleAction> actions) {
        Set<String> names = new LinkedHashSet<>();
        for (RoleAction action : actions) {
            if (action instanceof PatchRole patch) {
                names = patch.names().stream()
                        .map(ObjectRef::name)
                        .collect(Collectors.toCollection(LinkedHashSet::new));
            }
        }
        return names;
    }

    private static List<String> told(List<RoleAction> actions) {
        return actions.stream()
                .filter(TellOwner.class::isInstance)
                .map(TellOwner.class::cast)
                .map(tell -> tell.about().key().name() + " " + tell.reason() + ": " + tell.message())
                .toList();
    }

    @Test
    void firstReference_isGatheredFor100Millis_thenCreatedWithoutRules_andPatched() {
        selectAndListRole();
        listNoOwners();
        assertThat(settled()).as("no owner, no Role").isEmpty();

        ledger.ownerSeen(WEBSITE, owner(WEBSITE, "shop", "front", "u1", Set.of("db")), now);
        assertThat(actionsAfter(Duration.ofMillis(99))).isEmpty();
        ledger.ownerSeen(WEBSITE, owner(WEBSITE, "shop", "back", "u2", Set.of("cert")), now);
        assertThat(actionsAfter(Duration.ofMillis(1))).containsExactly(new CreateRole("shop"));
        RoleContent created = role(11, "orders");
        ledger.written("shop", created, now);
        assertThat(ledger.actions(now, true))
                .containsExactly(new PatchRole("shop", created, secrets("shop", Set.of("cert", "db"))));
    }

    @Test
    void roleFromBefore_keepsItsNames_untilEveryKindIsListed() {
        selectAndListRole(role(5, "orders", "old"));
        ledger.ownersListed(WEBSITE, "shop", List.of(owner(WEBSITE, "shop", "front", "u1", Set.of("db"))), now);

        assertThat(lastNames(settled())).containsExactly("db", "old");

        ledger.ownersListed(SHELF, "shop", List.of(), now);
        assertThat(lastNames(settled())).containsExactly("db");
    }

    @Test
    void kindWithoutDefinition_isAsListed_untilItHasOwnersAgain() {
        selectAndListRole(role(5, "orders", "old"));
        ledger.ownersListed(WEBSITE, "shop", List.of(), now);
        assertThat(settled()).isEmpty();

        ledger.definitionAbsent(SHELF, now);
        List<RoleAction> emptied = settled();
        assertThat(emptied).hasAtLeastOneElementOfType(PatchRole.class);
        assertThat(lastNames(emptied)).isEmpty();
    }

    @Test
    void writeThatIsSeenAfterItsReferenceWent_isTakenBack() {
        selectAndListRole(role(5, "orders", "db"));
        ledger.ownersListed(SHELF, "shop", List.of(), now);
        ledger.ownersListed(WEBSITE, "shop", List.of(owner(WEBSITE, "shop", "front", "u1", Set.of("db"))), now);
        assertThat(settled()).isEmpty();
        ledger.ownerSeen(WEBSITE, owner(WEBSITE, "shop", "front", "u1", Set.of("db", "cert")), now);
        assertThat(actionsAfter(Duration.ofMillis(100))).hasOnlyElementsOfType(PatchRole.class);
        ledger.failed("shop", new ApiServerException(FailureReason.TIMEOUT, 0, null, "no answer", null), now);
        ledger.ownerSeen(WEBSITE, owner(WEBSITE, "shop", "front", "u1", Set.of("db")), now);
        assertThat(actionsAfter(Duration.ofSeconds(1))).isEmpty();

        version = 6;
        ledger.roleSeen("shop", role(6, "orders", "cert", "db"), now);

        assertThat(lastNames(settled())).containsExactly("db");
    }

    @Test
    void namespaceOfTheSameName_keepsOwnersThatTheWatchOfAllNamespacesHasReported() {
        ledger.ownersListed(SHELF, "", List.of(), now);
        ledger.ownersListed(WEBSITE, "", List.of(), now);
        selectAndListRole();
        ledger.ownerSeen(WEBSITE, owner(WEBSITE, "shop", "front", "u1", Set.of("db")), now);

        ledger.namespaceGone("shop");
        assertThat(settled()).isEmpty();
        ledger.namespace("shop", true, false, now);
        ledger.roleListed("shop", null, "20", now);

        version = 20;
        assertThat(lastNames(settled())).containsExactly("db");
    }

    @Test
    void leaseThatIsTooShort_writesNothing() {
        selectAndListRole();
        listNoOwners();
        ledger.ownerSeen(WEBSITE, owner(WEBSITE, "shop", "front", "u1", Set.of("db")), now);
        now += Duration.ofSeconds(1).toNanos();

        assertThat(ledger.actions(now, false)).isEmpty();
        assertThat(ledger.actions(now, true)).containsExactly(new CreateRole("shop"));
    }

    @Test
    void conflict_readsAgain_beforeItWrites() {
        selectAndListRole(role(5, "orders", "db"));
        listNoOwners();
        assertThat(actionsAfter(Duration.ofMillis(100))).hasOnlyElementsOfType(PatchRole.class);

        ledger.failed("shop", failure(FailureReason.CONFLICT, 409, "conflict"), now);

        assertThat(actionsAfter(Duration.ofMillis(100))).containsExactly(new RereadRole("shop"));
        assertThat(actionsAfter(Duration.ofMillis(100))).isEmpty();
        RoleContent read = role(20, "orders", "foreign");
        ledger.reread("shop", read, now);
        assertThat(ledger.actions(now, true)).containsExactly(new PatchRole("shop", read, ImmutableSortedSet.of()));
    }

    /** It arrived, and its answer did not. */
    @Test
    void writeWithoutAnswer_isNotTakenForThatOfSomebodyElse() {
        selectAndListRole(role(5, "orders"));
        listNoOwners();
        settled();
        ledger.ownerSeen(WEBSITE, owner(WEBSITE, "shop", "front", "u1", Set.of("db")), now);
        assertThat(actionsAfter(Duration.ofMillis(100))).hasOnlyElementsOfType(PatchRole.class);
        ledger.failed("shop", failure(FailureReason.TIMEOUT, 0, "no answer"), now);
        ledger.ownerSeen(WEBSITE, owner(WEBSITE, "shop", "front", "u1", Set.of("cert")), now);
        assertThat(actionsAfter(Duration.ofSeconds(1))).hasOnlyElementsOfType(PatchRole.class);
        ledger.failed("shop", failure(FailureReason.CONFLICT, 409, "conflict"), now);
        assertThat(actionsAfter(Duration.ofSeconds(1))).containsExactly(new RereadRole("shop"));
        ledger.reread("shop", role(6, "orders", "db"), now);
        version = 6;

        List<RoleAction> actions = settled();

        assertThat(lastNames(actions)).containsExactly("cert");
        assertThat(actions).noneMatch(TellOfRole.class::isInstance);
    }

    private static ApiServerException failure(FailureReason reason, int code, String message) {
        return new ApiServerException(reason, code, null, message, null);
    }

    @Test
    void terminatingNamespace_isNotTriedAgain_untilAnOwnerIsNew() {
        selectAndListRole();
        listNoOwners();
        ledger.ownerSeen(WEBSITE, owner(WEBSITE, "shop", "front", "u1", Set.of("db")), now);
        assertThat(actionsAfter(Duration.ofMillis(100))).containsExactly(new CreateRole("shop"));

        boolean said = ledger.failed(
                "shop",
                failure(
                        FailureReason.FORBIDDEN,
                        403,
                        "unable to create new content in namespace shop because it is being terminated"),
                now);

        assertThat(said).isFalse();
        ledger.ownerSeen(WEBSITE, owner(WEBSITE, "shop", "front", "u1", Set.of("cert")), now);
        assertThat(ledger.nextAt()).isEqualTo(Long.MAX_VALUE);
        ledger.ownerSeen(WEBSITE, owner(WEBSITE, "shop", "front", "u2", Set.of("db")), now);
        assertThat(actionsAfter(Duration.ofMillis(100))).containsExactly(new CreateRole("shop"));
    }

    @Test
    void terminatingNamespace_isSaidLate_theOwnerOfTheNextOneGetsItsRole() {
        selectAndListRole();
        listNoOwners();
        ledger.ownerSeen(WEBSITE, owner(WEBSITE, "shop", "front", "u1", Set.of("db")), now);
        assertThat(actionsAfter(Duration.ofMillis(100))).containsExactly(new CreateRole("shop"));
        ledger.ownerSeen(WEBSITE, owner(WEBSITE, "shop", "front", "u2", Set.of("db")), now);

        boolean said = ledger.failed("shop", failure(FailureReason.NOT_FOUND, 404, "no such namespace"), now);

        assertThat(said).isFalse();
        now = ledger.nextAt();
        assertThat(ledger.actions(now, true)).containsExactly(new CreateRole("shop"));
        ledger.failed("shop", failure(FailureReason.NOT_FOUND, 404, "no such namespace"), now);
        assertThat(ledger.nextAt()).as("nobody is new").isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void refusedWrite_isSaidOnce_andTriedAgainAfterGrowingPauses() {
        selectAndListRole(role(5, "orders", "db"));
        listNoOwners();
        assertThat(actionsAfter(Duration.ofMillis(100))).hasSize(1);
        ApiServerException refused = failure(FailureReason.FORBIDDEN, 403, "no");

        assertThat(ledger.failed("shop", refused, now)).isTrue();
        long first = ledger.nextAt() - now;
        now = ledger.nextAt();
        assertThat(ledger.actions(now, true)).hasOnlyElementsOfType(PatchRole.class);
        assertThat(ledger.failed("shop", refused, now)).isFalse();
        now = ledger.nextAt();
        assertThat(ledger.actions(now, true)).hasOnlyElementsOfType(PatchRole.class);
        ledger.failed("shop", refused, now);
        assertThat(ledger.nextAt() - now).isGreaterThan(first);
    }

    @Test
    void roleOfAnotherPolicy_isLeftAlone_andThatIsSaidOnce() {
        RoleContent other = role(5, "blog", "theirs");
        selectAndListRole(other);
        listNoOwners();

        assertThat(settled())
                .singleElement()
                .isInstanceOfSatisfying(
                        TellOfRole.class, tell -> assertThat(tell.reason()).isEqualTo("RoleOfAnotherPolicy"));
        ledger.ownerSeen(WEBSITE, owner(WEBSITE, "shop", "front", "u1", Set.of("db")), now);
        assertThat(settled()).isEmpty();
    }

    @Test
    void roleWithoutALabel_isLeftAlone_andThatIsSaidOnce_untilItIsLabelled() {
        selectAndListRole(role(5, "", "theirs"));
        listNoOwners();

        assertThat(settled()).singleElement().isInstanceOfSatisfying(TellOfRole.class, tell -> {
            assertThat(tell.reason()).isEqualTo("RoleOfSomebodyElse");
            assertThat(tell.lasts()).isTrue();
            assertThat(tell.message()).contains("no label podcache.dev/policy", "podcache.dev/policy=orders");
        });
        ledger.ownerSeen(WEBSITE, owner(WEBSITE, "shop", "front", "u1", Set.of("db")), now);
        assertThat(settled()).isEmpty();

        ledger.roleSeen("shop", role(20, "orders", "theirs"), now);
        version = 20;
        assertThat(lastNames(settled())).containsExactly("db");
    }

    @Test
    void roleWhoseLabelIsTaken_isMadeEqualAgain_butNotAnotherOneInItsPlace() {
        selectAndListRole(role(5, "orders", "db"));
        ledger.ownersListed(SHELF, "shop", List.of(), now);
        ledger.ownersListed(WEBSITE, "shop", List.of(owner(WEBSITE, "shop", "front", "u1", Set.of("db"))), now);
        assertThat(settled()).isEmpty();

        ledger.roleSeen("shop", role(20, "", "theirs"), now);
        version = 20;
        List<RoleAction> restored = settled();
        assertThat(lastNames(restored)).containsExactly("db");
        assertThat(restored)
                .anySatisfy(action -> assertThat(action)
                        .isInstanceOfSatisfying(
                                TellOfRole.class,
                                tell -> assertThat(tell.reason()).isEqualTo("RoleRestored")));

        ledger.roleSeen("shop", new RoleContent("30", "another-uid", secrets("shop", Set.of()), true, ""), now);
        assertThat(settled())
                .singleElement()
                .isInstanceOfSatisfying(
                        TellOfRole.class, tell -> assertThat(tell.reason()).isEqualTo("RoleOfSomebodyElse"));
    }

    @Test
    void roleOfANamespaceThatIsNotSelected_isEmptied_beforeItsOwnersAreKnown() {
        ledger.namespace("shop", false, false, now);
        ledger.roleListed("shop", role(5, "orders", "old"), "5", now);

        List<RoleAction> emptied = settled();

        assertThat(emptied).hasAtLeastOneElementOfType(PatchRole.class);
        assertThat(lastNames(emptied)).isEmpty();

        // selected again, nothing is taken before its owners are known
        ledger.namespace("shop", true, false, now);
        ledger.roleSeen("shop", role(20, "orders", "db"), now);
        version = 20;
        assertThat(settled()).noneMatch(PatchRole.class::isInstance);
    }

    @Test
    void roleOlderThanItsReadBegan_tellsOfARestoredStorage_andIsTaken() {
        selectAndListRole(role(50, "orders", "db"));
        listNoOwners();
        assertThat(actionsAfter(Duration.ofMillis(100))).hasOnlyElementsOfType(PatchRole.class);
        ledger.failed("shop", failure(FailureReason.CONFLICT, 409, "conflict"), now);
        assertThat(actionsAfter(Duration.ofMillis(100))).containsExactly(new RereadRole("shop"));

        RoleContent restored = role(20, "orders", "older");
        assertThat(ledger.reread("shop", restored, now)).isTrue();

        assertThat(ledger.actions(now, true)).containsExactly(new PatchRole("shop", restored, ImmutableSortedSet.of()));
    }

    @Test
    void roleOlderThanWhatWasSeenDuringItsRead_isLate_andIgnored() {
        selectAndListRole(role(50, "orders", "db"));
        listNoOwners();
        assertThat(actionsAfter(Duration.ofMillis(100))).hasOnlyElementsOfType(PatchRole.class);
        ledger.failed("shop", failure(FailureReason.CONFLICT, 409, "conflict"), now);
        assertThat(actionsAfter(Duration.ofMillis(100))).containsExactly(new RereadRole("shop"));
        RoleContent newest = role(70, "orders", "newer");
        ledger.roleSeen("shop", newest, now);

        assertThat(ledger.reread("shop", role(60, "orders", "read"), now)).isFalse();

        assertThat(ledger.actions(now, true)).containsExactly(new PatchRole("shop", newest, ImmutableSortedSet.of()));
    }

    @Test
    void listOlderThanWhatWasSeen_isReadAgain_withOrWithoutARole() {
        selectAndListRole(role(50, "orders", "db"));
        ledger.ownersListed(SHELF, "shop", List.of(), now);
        ledger.ownersListed(WEBSITE, "shop", List.of(owner(WEBSITE, "shop", "front", "u1", Set.of("db"))), now);
        assertThat(settled()).isEmpty();

        // as after the storage of the API server was restored: no write would ever conflict, because none is due
        ledger.roleListed("shop", role(20, "orders", "older"), "30", now);
        assertThat(actionsAfter(Duration.ofMillis(100))).containsExactly(new RereadRole("shop"));
        assertThat(ledger.reread("shop", role(20, "orders", "older"), now)).isTrue();
        version = 30;
        assertThat(lastNames(settled())).containsExactly("db");

        // restored once more, and the Role is younger than that state
        ledger.roleListed("shop", null, "10", now);
        assertThat(actionsAfter(Duration.ofMillis(100))).containsExactly(new RereadRole("shop"));
        assertThat(ledger.reread("shop", null, now)).isTrue();
        version = 11;
        List<RoleAction> created = settled();
        assertThat(created).hasAtLeastOneElementOfType(CreateRole.class);
        assertThat(lastNames(created)).containsExactly("db");
        assertThat(settled()).isEmpty();
    }

    @Test
    void ownersOver500Names_loseTheNewest_andAreToldOnce() {
        selectAndListRole();
        listNoOwners();
        Set<String> some = numbered("a", 400);
        ledger.ownerSeen(WEBSITE, owner(WEBSITE, "shop", "greedy", "u1", some), now);
        settled();
        Set<String> more = new LinkedHashSet<>(numbered("A0", 0));
        more.addAll(numbered("0", 200));
        more.addAll(some);

        ledger.ownerSeen(WEBSITE, owner(WEBSITE, "shop", "greedy", "u1", more), now);
        List<RoleAction> actions = settled();

        assertThat(lastNames(actions)).hasSize(500).containsAll(some);
        assertThat(told(actions))
                .containsExactly(
                        "greedy GrantRefused: refers to 600 objects; only the oldest 500 references are granted:"
                                + " name fewer objects");
        ledger.ownerSeen(WEBSITE, owner(WEBSITE, "shop", "honest", "u2", Set.of("db")), now);
        List<RoleAction> later = settled();
        assertThat(lastNames(later)).hasSize(501).contains("db");
        assertThat(told(later)).isEmpty();
    }

    private static Set<String> numbered(String prefix, int count) {
        return IntStream.range(0, count).mapToObj(i -> prefix + i).collect(Collectors.toCollection(LinkedHashSet::new));
    }

    @Test
    void roleOfAMebibyte_keepsTheOldestReferences_alsoInTheNextTerm() {
        selectAndListRole(role(5, "orders", "first"));
        String large = "x".repeat(240);
        ledger.ownersListed(WEBSITE, "shop", List.of(owner(WEBSITE, "shop", "honest", "u0", Set.of("first"))), now);
        ledger.ownersListed(SHELF, "shop", List.of(), now);
        for (int i = 0; i < 10; i++) {
            int owner = i;
            Set<String> names = numbered(large, 0);
            IntStream.range(0, 500).forEach(n -> names.add(large + owner + "-" + n));
            ledger.ownerSeen(SHELF, owner(SHELF, "shop", "large" + i, "l" + i, names), now);
        }
        ledger.ownerSeen(WEBSITE, owner(WEBSITE, "shop", "late", "u1", Set.of("late")), now);

        List<RoleAction> actions = settled();

        Set<String> names = lastNames(actions);
        long bytes = names.stream().mapToLong(name -> name.length() + 3).sum();
        assertThat(bytes).isBetween(RoleLedger.ROLE_BYTES * 9L / 10, (long) RoleLedger.ROLE_BYTES);
        assertThat(names).contains("first", large + "0-0", large + "7-499").doesNotContain("late", large + "9-499");
        assertThat(told(actions))
                .hasSize(3)
                .anySatisfy(
                        text -> assertThat(text).startsWith("late GrantRefused: 1 of its references are not granted"));

        // a new leader lists the late one first, and finds the Role as it is
        RoleLedger next = new RoleLedger(POLICY, () -> 0.5);
        next.namespace("shop", true, false, now);
        next.roleListed("shop", new RoleContent("99", "u", secrets("shop", names), true, "orders"), "99", now);
        next.ownersListed(
                WEBSITE,
                "shop",
                List.of(
                        owner(WEBSITE, "shop", "late", "u1", Set.of("late")),
                        owner(WEBSITE, "shop", "honest", "u0", Set.of("first"))),
                now);
        List<GrantOwner> again = new ArrayList<>();
        for (int i = 9; i >= 0; i--) {
            int owner = i;
            Set<String> theirs = numbered(large, 0);
            IntStream.range(0, 500).forEach(n -> theirs.add(large + owner + "-" + n));
            again.add(owner(SHELF, "shop", "large" + i, "l" + i, theirs));
        }
        next.ownersListed(SHELF, "shop", again, now);
        assertThat(next.preview(new ArrayList<>()).get("shop"))
                .extracting(ObjectRef::name)
                .contains("first", large + "0-0", large + "7-499");
    }

    private static final OwnerKind ASKING = new OwnerKind(
            ObjectKind.of("example.dev/v1", "Website", "websites", true),
            WEBSITE.references(),
            FieldPath.parse(".spec.serviceAccountName"),
            "policy.yaml, line 1");
    private static final RolePolicy ASKING_POLICY =
            new RolePolicy("orders", "podcache-orders", POLICY.namespaces(), List.of(ASKING), POLICY.verbs());

    private static GrantOwner onBehalf(String name, String account, String... secrets) {
        Set<ObjectRef> references = new LinkedHashSet<>();
        List.of(secrets).forEach(secret -> references.add(ObjectRef.of(ObjectKind.SECRET, "shop", secret)));
        return new GrantOwner(ASKING.kind(), ObjectKey.of("shop", name), "uid-" + name, "", references, 0, account);
    }

    @Test
    void onBehalfOf_grantsOnlyWhileTheSubjectMayGet() {
        RoleLedger asking = new RoleLedger(ASKING_POLICY, () -> 0.5);
        asking.namespace("shop", true, false, 0);
        asking.roleListed("shop", role(5, "orders"), "5", 0);
        asking.ownersListed(ASKING, "shop", List.of(onBehalf("front", "web", "db", "canary")), 0);
        now = Duration.ofMillis(100).toNanos();
        SubjectQuestion db = new SubjectQuestion("web", ObjectRef.of(ObjectKind.SECRET, "shop", "db"));
        SubjectQuestion canary = new SubjectQuestion("web", ObjectRef.of(ObjectKind.SECRET, "shop", "canary"));

        assertThat(asking.actions(now, true))
                .as("asked, and nothing granted before the answer")
                .containsExactlyInAnyOrder(new RoleLedger.AskAccess(db), new RoleLedger.AskAccess(canary));

        asking.reviewed(db, SubjectVerdict.ALLOWED, now);
        asking.reviewed(canary, SubjectVerdict.DENIED, now);
        now += Duration.ofMillis(100).toNanos();
        List<RoleAction> granted = asking.actions(now, true);
        assertThat(lastNames(granted)).containsExactly("db");
        assertThat(told(granted))
                .containsExactly(
                        "front GrantDenied: ServiceAccount web may not get Secret shop/canary; not granted until"
                                + " it may");

        asking.written("shop", role(6, "orders", "db"), now);
        asking.reviewed(db, SubjectVerdict.DENIED, now);
        now += Duration.ofMillis(100).toNanos();
        List<RoleAction> revoked = asking.actions(now, true);
        assertThat(revoked).hasAtLeastOneElementOfType(PatchRole.class);
        assertThat(lastNames(revoked)).isEmpty();

        asking.ownerGone(ASKING, ObjectKey.of("shop", "front"), "uid-front", now);
        asking.written("shop", role(7, "orders"), now);
        now += Duration.ofMillis(100).toNanos();
        assertThat(asking.actions(now, true))
                .containsExactlyInAnyOrder(new RoleLedger.ForgetAccess(db), new RoleLedger.ForgetAccess(canary));
    }

    @Test
    void onBehalfOf_whatOnlyAPolicyAllows_orNobodyAnswers_isNotGranted_andTheOwnerIsTold() {
        RoleLedger asking = new RoleLedger(ASKING_POLICY, () -> 0.5);
        asking.namespace("shop", true, false, 0);
        asking.roleListed("shop", role(5, "orders", "db", "cert"), "5", 0);
        asking.ownersListed(ASKING, "shop", List.of(onBehalf("front", "web", "db", "cert")), 0);
        now = Duration.ofMillis(100).toNanos();
        asking.actions(now, true);
        assertThat(asking.incomplete()).as("not answered").containsExactly("shop");

        asking.reviewed(
                new SubjectQuestion("web", ObjectRef.of(ObjectKind.SECRET, "shop", "db")),
                SubjectVerdict.BY_A_POLICY,
                now);
        asking.reviewed(
                new SubjectQuestion("web", ObjectRef.of(ObjectKind.SECRET, "shop", "cert")),
                SubjectVerdict.UNANSWERED,
                now);
        now += Duration.ofMillis(100).toNanos();
        List<RoleAction> taken = asking.actions(now, true);

        assertThat(asking.incomplete()).isEmpty();
        assertThat(taken).hasAtLeastOneElementOfType(PatchRole.class);
        assertThat(lastNames(taken)).isEmpty();
        assertThat(told(taken))
                .containsExactlyInAnyOrder(
                        "front GrantDenied: ServiceAccount web has no right of its own to get Secret shop/db; not"
                                + " granted until it may",
                        "front GrantDenied: ServiceAccount web is not known to be allowed to get Secret shop/cert; not"
                                + " granted until it may");
    }

    @Test
    void onBehalfOf_ofANewTerm_keepsWhatIsGranted_untilTheFirstAnswer() {
        RoleLedger asking = new RoleLedger(ASKING_POLICY, () -> 0.5);
        asking.namespace("shop", true, false, 0);
        asking.roleListed("shop", role(5, "orders", "db"), "5", 0);
        asking.ownersListed(ASKING, "shop", List.of(onBehalf("front", "web", "db", "cert"), onBehalf("x", "", "y")), 0);
        now = Duration.ofMillis(100).toNanos();

        List<RoleAction> first = asking.actions(now, true);

        assertThat(first).noneMatch(PatchRole.class::isInstance);
        assertThat(told(first)).singleElement().asString().startsWith("x GrantRefused: names no legal ServiceAccount");
        asking.reviewed(
                new SubjectQuestion("web", ObjectRef.of(ObjectKind.SECRET, "shop", "db")), SubjectVerdict.DENIED, now);
        now += Duration.ofMillis(100).toNanos();
        assertThat(asking.actions(now, true)).hasAtLeastOneElementOfType(PatchRole.class);
    }
}
