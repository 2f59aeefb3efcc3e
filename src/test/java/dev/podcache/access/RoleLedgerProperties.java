package dev.podcache.access;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.ImmutableSortedSet;
import dev.podcache.access.RoleLedger.RoleAction;
import dev.podcache.access.RolePolicy.GrantOwner;
import dev.podcache.access.RolePolicy.OwnerKind;
import dev.podcache.access.RolePolicy.ReferenceField;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.jspecify.annotations.NullUnmarked;
import org.jspecify.annotations.Nullable;

/** A ledger on hand-driven time beside a server that fails, is late and is changed by others, against a model of both. */
@NullUnmarked
class RoleLedgerProperties {

    private static final List<String> NAMESPACES = List.of("a", "b");

    static final OwnerKind WEBSITE = kind("Website");
    static final OwnerKind SHELF = kind("Shelf");
    static final RolePolicy POLICY = new RolePolicy(
            "orders",
            "podcache-orders",
            new RolePolicy.Namespaces(Set.of("a", "b"), null),
            List.of(WEBSITE, SHELF),
            List.of("get", "list", "watch"));

    private static OwnerKind kind(String name) {
        return new OwnerKind(
                ObjectKind.of("example.dev/v1", name, name.toLowerCase(Locale.ROOT) + "s", true),
                List.of(new ReferenceField(ObjectKind.SECRET, FieldPath.parse(".spec.secrets[*]"))),
                null,
                "policy.yaml, line 1");
    }

    static GrantOwner owner(OwnerKind kind, String namespace, String name, String uid, Set<String> secrets) {
        Set<ObjectRef> references = new LinkedHashSet<>();
        secrets.forEach(secret -> references.add(ObjectRef.of(ObjectKind.SECRET, namespace, secret)));
        return new GrantOwner(kind.kind(), ObjectKey.of(namespace, name), uid, "", references, 0, null);
    }

    static ImmutableSortedSet<ObjectRef> secrets(String namespace, Set<String> names) {
        return names.stream()
                .map(name -> ObjectRef.of(ObjectKind.SECRET, namespace, name))
                .collect(ImmutableSortedSet.toImmutableSortedSet(Comparator.naturalOrder()));
    }

    private static ApiServerException failure(FailureReason reason, int code) {
        return new ApiServerException(reason, code, null, "PATCH Role was answered " + code, null);
    }

    /** The ledger, its server and what lies between them. */
    private static final class GrantsWorld {

        final RoleLedger ledger = new RoleLedger(POLICY, () -> 0.5);
        final Map<OwnerKind, Map<ObjectKey, GrantOwner>> owners = new HashMap<>(); // at the server
        final Map<OwnerKind, Map<ObjectKey, GrantOwner>> delivered = new HashMap<>(); // what the ledger was told
        final Map<String, Set<OwnerKind>> listed = new HashMap<>();
        final Map<String, RoleContent> roles = new HashMap<>(); // at the server
        final Queue<Runnable> ownerEvents = new ArrayDeque<>();
        final Map<String, Queue<Runnable>> roleEvents = new HashMap<>();
        final Map<String, RoleAction> requests = new TreeMap<>(); // in flight
        final Set<String> roleListed = new HashSet<>();
        final Set<String> conflicts = new HashSet<>(); // namespaces whose Role is to be read again
        final Set<String> selected = new HashSet<>(NAMESPACES);
        final Set<String> labelled = new HashSet<>(); // uids of Roles that the ledger has seen with the label
        final Map<String, Long> newest = new HashMap<>(); // the version of the newest that it has seen of each Role
        final Set<String> refused = new HashSet<>(); // uids of Roles that are somebody else's, as the ledger tells
        int foreign; // changes by others
        int told; // events about them
        int uids;
        long version = 100;
        long now;
        boolean mayWrite = true;

        GrantsWorld() {
            POLICY.owners().forEach(kind -> {
                owners.put(kind, new TreeMap<>());
                delivered.put(kind, new TreeMap<>());
            });
            NAMESPACES.forEach(name -> {
                listed.put(name, new HashSet<>());
                roleEvents.put(name, new ArrayDeque<>());
                ledger.namespace(name, true, false, now);
            });
        }

        void step(int choice) {
            int argument = choice / 13;
            String namespace = NAMESPACES.get(argument % 2);
            OwnerKind kind = POLICY.owners().get(argument / 2 % 2);
            int more = argument / 4;
            switch (choice % 13) {
                case 0, 1 -> putOwner(kind, namespace, "o" + more % 3, more / 3);
                case 2 -> deleteOwner(kind, namespace, "o" + more % 3);
                case 3 -> deliver(ownerEvents, more % 4 + 1);
                case 4 -> list(kind, namespace);
                case 5, 6 -> {
                    now += Duration.ofMillis(more % 300).toNanos();
                    act();
                }
                case 7 -> answer(namespace, more);
                case 8 -> deliver(roleEvents.get(namespace), more % 3 + 1);
                case 9 -> listRole(namespace);
                case 10 -> change(namespace, more);
                case 11 -> select(namespace, more % 3 > 0);
                default -> mayWrite = more % 3 > 0;
            }
        }

        private void select(String namespace, boolean on) {
            if (on) {
                selected.add(namespace);
            } else {
                selected.remove(namespace);
            }
            ledger.namespace(namespace, on, false, now);
        }

        private void putOwner(OwnerKind kind, String namespace, String name, int bits) {
            ObjectKey key = ObjectKey.of(namespace, name);
            GrantOwner before = owners.get(kind).get(key);
            Set<String> names = new TreeSet<>();
            for (int bit = 0; bit < 5; bit++) {
                if ((bits >> bit & 1) == 1) {
                    names.add("s" + bit);
                }
            }
            GrantOwner owner = owner(kind, namespace, name, before == null ? "u" + ++uids : before.uid(), names);
            owners.get(kind).put(key, owner);
            ownerEvents.add(() -> {
                if (listed.get(namespace).contains(kind)) {
                    delivered.get(kind).put(key, owner);
                    ledger.ownerSeen(kind, owner, now);
                }
            });
        }

        private void deleteOwner(OwnerKind kind, String namespace, String name) {
            ObjectKey key = ObjectKey.of(namespace, name);
            GrantOwner gone = owners.get(kind).remove(key);
            if (gone != null) {
                ownerEvents.add(() -> {
                    if (listed.get(namespace).contains(kind)) {
                        delivered.get(kind).remove(key);
                        ledger.ownerGone(kind, key, gone.uid(), now);
                    }
                });
            }
        }

        private static void deliver(Queue<Runnable> events, int most) {
            for (int i = 0; i < most && !events.isEmpty(); i++) {
                events.remove().run();
            }
        }

        /** A list has all that happened before it. */
        private void list(OwnerKind kind, String namespace) {
            deliver(ownerEvents, Integer.MAX_VALUE);
            listed.get(namespace).add(kind);
            List<GrantOwner> here = new ArrayList<>();
            delivered.get(kind).keySet().removeIf(key -> key.namespace().equals(namespace));
            owners.get(kind).values().stream()
                    .filter(owner -> owner.key().namespace().equals(namespace))
                    .forEach(owner -> {
                        here.add(owner);
                        delivered.get(kind).put(owner.key(), owner);
                    });
            ledger.ownersListed(kind, namespace, here, now);
        }

        private void listRole(String namespace) {
            roleEvents.get(namespace).clear();
            roleListed.add(namespace);
            RoleContent role = shown(namespace, roles.get(namespace));
            newest.put(namespace, version);
            ledger.roleListed(namespace, role, String.valueOf(version), now);
        }

        private void put(String namespace, RoleContent role) {
            roles.put(namespace, role);
            roleEvents.get(namespace).add(() -> {
                if (roleListed.contains(namespace)) {
                    ledger.roleSeen(namespace, shown(namespace, role), now);
                }
            });
        }

        /** Notes what the ledger is about to see. An event that comes after something newer tells it nothing. */
        private RoleContent shown(String namespace, RoleContent role) {
            if (role == null) {
                return null;
            }
            long seen = Long.parseLong(role.resourceVersion());
            if (seen >= newest.getOrDefault(namespace, 0L)) {
                newest.put(namespace, seen);
                if (role.policy().equals(POLICY.name())) {
                    labelled.add(role.uid());
                }
            }
            return role;
        }

        /** Somebody else edits or deletes the Role, or makes one. */
        private void change(String namespace, int how) {
            RoleContent role = roles.get(namespace);
            if (role == null) {
                if (how % 7 == 0) {
                    foreign++;
                    put(
                            namespace,
                            new RoleContent(
                                    String.valueOf(++version),
                                    "theirs" + version,
                                    secrets(namespace, Set.of("theirs")),
                                    true,
                                    ""));
                }
                return;
            }
            foreign++;
            if (how % 3 == 0) {
                roles.remove(namespace);
                long at = ++version;
                roleEvents.get(namespace).add(() -> {
                    if (roleListed.contains(namespace)) {
                        newest.merge(namespace, at, Math::max);
                        ledger.roleGone(namespace, String.valueOf(at), now);
                    }
                });
            } else {
                put(
                        namespace,
                        new RoleContent(
                                String.valueOf(++version),
                                role.uid(),
                                secrets(namespace, Set.of("foreign" + how % 5)),
                                how % 3 == 1,
                                how % 2 == 0 ? "" : POLICY.name()));
            }
        }

        private boolean isComplete(String namespace) {
            return listed.get(namespace).containsAll(POLICY.owners());
        }

        private Set<String> referred(Map<OwnerKind, Map<ObjectKey, GrantOwner>> by, String namespace) {
            Set<String> names = new TreeSet<>();
            by.values()
                    .forEach(all -> all.values().stream()
                            .filter(owner -> owner.key().namespace().equals(namespace))
                            .forEach(owner -> owner.references().forEach(reference -> names.add(reference.name()))));
            return names;
        }

        void act() {
            for (RoleAction action : ledger.actions(now, mayWrite)) {
                if (action instanceof RoleLedger.CreateRole create) {
                    begin(create.namespace(), action, true);
                } else if (action instanceof RoleLedger.PatchRole patch) {
                    begin(patch.namespace(), action, true);
                    assertThat(labelled)
                            .as("Roles that were the policy's once")
                            .contains(patch.before().uid());
                    Set<String> names = new TreeSet<>();
                    patch.names().forEach(name -> names.add(name.name()));
                    Set<String> referred = referred(delivered, patch.namespace());
                    if (!selected.contains(patch.namespace())) {
                        assertThat(names)
                                .as("what a namespace that is not selected has")
                                .isEmpty();
                    } else if (isComplete(patch.namespace())) {
                        assertThat(names).as("what is written").isEqualTo(referred);
                    } else {
                        assertThat(patch.names())
                                .as("nothing shrinks")
                                .containsAll(patch.before().names());
                        assertThat(patch.before().exact()).isTrue();
                    }
                } else if (action instanceof RoleLedger.RereadRole reread) {
                    begin(reread.namespace(), action, false);
                } else if (action instanceof RoleLedger.TellOfRole tell) {
                    told++;
                    if (tell.reason().equals("RoleOfSomebodyElse")) {
                        refused.add(tell.uid());
                    }
                }
            }
        }

        private void begin(String namespace, RoleAction action, boolean write) {
            assertThat(write && conflicts.contains(namespace))
                    .as("writes after a conflict before Lease and Role are read again")
                    .isFalse();
            assertThat(write && !mayWrite)
                    .as("writes while the lease is too short")
                    .isFalse();
            assertThat(requests.put(namespace, action))
                    .as("another request in flight")
                    .isNull();
        }

        /** A request arrives at the server, and its answer at the ledger: or one of both fails. */
        private void answer(String namespace, int how) {
            RoleAction request = requests.remove(namespace);
            if (request == null) {
                return;
            }
            RoleContent role = roles.get(namespace);
            if (how % 4 == 1) {
                ledger.failed(namespace, failure(FailureReason.UNAVAILABLE, 503), now);
            } else if (request instanceof RoleLedger.RereadRole) {
                conflicts.remove(namespace);
                assertThat(ledger.reread(namespace, shown(namespace, role), now))
                        .as("the storage was restored")
                        .isFalse();
            } else if (request instanceof RoleLedger.CreateRole) {
                if (role != null) {
                    conflicts.add(namespace);
                    ledger.failed(namespace, failure(FailureReason.ALREADY_EXISTS, 409), now);
                } else {
                    RoleContent created = new RoleContent(
                            String.valueOf(++version), "r" + version, ImmutableSortedSet.of(), true, POLICY.name());
                    written(namespace, created, how);
                }
            } else if (request instanceof RoleLedger.PatchRole patch) {
                if (role == null) {
                    conflicts.add(namespace);
                    ledger.failed(namespace, failure(FailureReason.NOT_FOUND, 404), now);
                } else if (!role.resourceVersion().equals(patch.before().resourceVersion())) {
                    conflicts.add(namespace);
                    ledger.failed(namespace, failure(FailureReason.CONFLICT, 409), now);
                } else {
                    written(
                            namespace,
                            new RoleContent(String.valueOf(++version), role.uid(), patch.names(), true, POLICY.name()),
                            how);
                }
            }
        }

        private void written(String namespace, RoleContent role, int how) {
            put(namespace, role);
            if (how % 4 == 3) {
                deliver(roleEvents.get(namespace), Integer.MAX_VALUE);
            }
            if (how % 4 == 2) {
                ledger.failed(namespace, failure(FailureReason.TIMEOUT, 0), now);
            } else {
                labelled.add(role.uid());
                ledger.written(namespace, shown(namespace, role), now).forEach(action -> told++);
            }
        }

        /** From now on all goes well. */
        void settle() {
            mayWrite = true;
            for (String namespace : NAMESPACES) {
                POLICY.owners().forEach(kind -> list(kind, namespace));
                if (!roleListed.contains(namespace)) {
                    listRole(namespace);
                }
            }
            for (int i = 0; i < 60; i++) {
                roleEvents.values().forEach(events -> deliver(events, Integer.MAX_VALUE));
                NAMESPACES.forEach(namespace -> answer(namespace, 0));
                long next = ledger.nextAt();
                if (next != Long.MAX_VALUE) {
                    now = Math.max(now, next);
                }
                act();
            }
            assertThat(requests).isEmpty();
            assertThat(ledger.nextAt()).as("nothing is left to do").isEqualTo(Long.MAX_VALUE);
        }
    }

    @Property
    void roles_becomeEqualToTheReferences_andNeverShrinkBefore(
            @ForAll @Size(max = 150) List<@IntRange(max = 13 * 4 * 3 * 400) Integer> choices) {
        requireConvergence(choices);
    }

    /** A Role of somebody else gets the policy's label and loses it, while the one that was created last is read again. */
    @Example
    void labelOfARole_toldOnlyAfterItWasTakenAway_tellsNothing() {
        requireConvergence(List.of(143, 48, 43, 23, 1_661, 5_205, 16_452, 5_205, 32_991, 202));
    }

    private static void requireConvergence(List<Integer> choices) {
        GrantsWorld world = new GrantsWorld();

        choices.forEach(world::step);
        world.settle();

        for (String namespace : NAMESPACES) {
            @Nullable RoleContent role = world.roles.get(namespace);
            Set<String> referred =
                    world.selected.contains(namespace) ? world.referred(world.owners, namespace) : Set.of();
            if (role == null) {
                assertThat(referred).isEmpty();
            } else if (role.policy().isEmpty()) {
                assertThat(world.refused).as("Roles left to others").contains(role.uid());
                assertThat(world.labelled).doesNotContain(role.uid());
            } else {
                assertThat(role.grants(secrets(namespace, referred), POLICY))
                        .as("Role %s beside references %s", role, referred)
                        .isTrue();
            }
        }
        assertThat(world.told).as("events about what others did").isLessThanOrEqualTo(world.foreign);
    }

    /** Whatever comes and goes, three writes of a large Role take a second. */
    @Property(tries = 50)
    void largeRole_isWrittenAtMostTwiceASecond(
            @ForAll @Size(min = 5, max = 60) List<@IntRange(max = 400) Integer> pauses) {
        RoleLedger ledger = new RoleLedger(POLICY, () -> 0.5);
        ledger.namespace("a", true, false, 0);
        ledger.roleListed("a", null, "1", 0);
        POLICY.owners().forEach(kind -> ledger.ownersListed(kind, "a", List.of(), 0));
        for (int i = 0; i < 3; i++) {
            Set<String> names = new TreeSet<>();
            for (int j = 0; j < 400; j++) {
                names.add("n" + i + "-" + j);
            }
            ledger.ownerSeen(WEBSITE, owner(WEBSITE, "a", "large" + i, "l" + i, names), 0);
        }
        List<Long> writes = new ArrayList<>();
        long now = 0;
        long version = 1;
        int owners = 0;
        List<Integer> all = new ArrayList<>(pauses);
        all.add(1_000);
        for (int pause : all) {
            long end = now + Duration.ofMillis(pause).toNanos();
            while (ledger.nextAt() <= end) {
                now = Math.max(now, ledger.nextAt());
                for (RoleAction action : ledger.actions(now, true)) {
                    if (action instanceof RoleLedger.PatchRole patch) {
                        writes.add(now);
                        ledger.written(
                                "a", new RoleContent("" + ++version, "r", patch.names(), true, POLICY.name()), now);
                    } else if (action instanceof RoleLedger.CreateRole) {
                        ledger.written(
                                "a",
                                new RoleContent("" + ++version, "r", ImmutableSortedSet.of(), true, POLICY.name()),
                                now);
                    }
                }
            }
            now = end;
            owners++;
            ledger.ownerSeen(SHELF, owner(SHELF, "a", "o" + owners, "u" + owners, Set.of("s" + owners)), now);
        }
        for (int i = 2; i < writes.size(); i++) {
            assertThat(writes.get(i) - writes.get(i - 2))
                    .isGreaterThanOrEqualTo(Duration.ofSeconds(1).toNanos());
        }
        assertThat(writes).isNotEmpty();
    }
}
