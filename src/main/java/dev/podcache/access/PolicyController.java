package dev.podcache.access;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.common.collect.ImmutableSortedSet;
import dev.podcache.access.Definitions.Definition;
import dev.podcache.access.RoleLedger.RoleAction;
import dev.podcache.access.RoleLedger.SubjectQuestion;
import dev.podcache.access.RoleLedger.SubjectVerdict;
import dev.podcache.access.RolePolicy.GrantOwner;
import dev.podcache.access.RolePolicy.OwnerKind;
import dev.podcache.apiserver.AccessReviews.ResourceAccess;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.CachedReviews;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.ObjectApi;
import dev.podcache.apiserver.Retries;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.controlplane.cluster.ControllerLoop;
import dev.podcache.controlplane.leaderelection.LeaderElectionOptions;
import dev.podcache.controlplane.leaderelection.LeaderElector;
import dev.podcache.kubelet.events.EventBroadcaster;
import dev.podcache.kubelet.events.EventRecorder.EventType;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ModelJson;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import dev.podcache.object.Subject;
import dev.podcache.reflector.Recovery;
import dev.podcache.reflector.Reflector;
import dev.podcache.reflector.ReflectorSink;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectReference;
import io.fabric8.kubernetes.api.model.ObjectReferenceBuilder;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.api.model.rbac.RoleBuilder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Runs one policy: competes for its Lease and, as leader, follows owners and Roles and writes what its {@link RoleLedger}
 * decides. Thread-safe; no method but {@link #close} blocks.
 */
final class PolicyController implements LeaderElector.LeadershipListener, AutoCloseable {

    /*
     * Confinement. All state is used by tasks of the loop only. Each time as leader is a term with a number, a ledger and
     * reflectors of its own. Whatever happens names its term, and is ignored if that is over. So nothing that was seen in an
     * earlier term counts in a later one.
     *
     * A write is begun only while the lease lasts for longer than a request: so it has ended, or failed, before another
     * process leads. A write that was begun before this process stood still carries the version of the Role that it
     * replaces, and fails if another leader has written.
     *
     * term            begins with                                   ends with
     * ---------------------------------------------------------------------------------------------------------------
     * looks up kinds  the leadership; a kind that has another       the answer for each kind: follows
     *                 plural now; a storage that was restored
     * follows         reflectors of namespaces, Roles and owners    the leadership
     *
     * A namespace may be taken out of the policy while nobody leads. Its Role is left, and no reflector of a term reads it. So
     * once in a term, as soon as the selected namespaces are known, all Roles of this name and label are listed. Those in other
     * namespaces are emptied. They are not followed afterwards.
     */

    static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(4);

    private static final Logger log = LoggerFactory.getLogger(PolicyController.class);
    private static final ObjectMapper JSON =
            JsonMapper.builder().findAndAddModules().build();
    private static final ObjectKind<Namespace> NAMESPACE = ObjectKind.of(Namespace.class);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(3);
    private static final Duration LOOK_AGAIN = Duration.ofSeconds(2);
    private static final int LOOKS_BEFORE_A_WARNING = 5;
    private static final Duration UNANSWERED = CachedReviews.ALLOWED_FOR.multipliedBy(2);
    private static final Duration LEASE_PAUSE = Duration.ofMillis(250);
    private static final Duration LEFTOVERS_TIMEOUT = Duration.ofSeconds(30);
    private static final Duration LEFTOVERS_REFUSED = Duration.ofMinutes(5);

    private final RolePolicy given;
    private final Fabric8ApiServer server;
    private final ControllerOptions options;
    private final Timekeeper timekeeper;
    private final ControllerLoop loop;
    private final ObjectApi<Role> roles;
    private final Definitions definitions;
    private final EventBroadcaster events;
    private final @Nullable CachedReviews reviews; // null if the policy asks nobody
    private final @Nullable LeaderElector elector; // null for a dry run
    private final long origin;

    private volatile boolean leading;
    private int term;
    private RolePolicy policy;
    private @Nullable RoleLedger ledger; // null while kinds are looked up, and if this process does not lead
    private Recovery recovery;
    private @Nullable Reflector<Namespace> namespaces;
    private boolean namespacesListed;
    private final Map<OwnerKind, Map<String, Reflector<?>>> owners = new HashMap<>(); // by scope: a namespace, or all
    private final Map<String, RoleSink> followed = new LinkedHashMap<>(); // by namespace
    private final Set<String> unselected = new HashSet<>(); // namespaces that exist, if labels select
    private final Map<String, Fetched<Role>> leftovers = new HashMap<>(); // in namespaces of which nothing is known yet
    private Timekeeper.@Nullable Scheduled leftoversTimer;
    private boolean leftoversTold; // that they cannot be listed; in this process
    private final Set<OwnerKind> looking = new HashSet<>();
    private final Set<OwnerKind> unserved = new HashSet<>(); // not found since they were last listed
    private final Map<String, Integer> refusals = new HashMap<>(); // in this term, by what is refused
    private final Map<SubjectQuestion, AskedReview> asked = new HashMap<>();
    private Timekeeper.@Nullable Scheduled timer;
    private String saidOfKinds = ""; // why they could not be looked up, as it was logged last

    /**
     * How a controller works.
     *
     * @param clusterWide whether it follows owners with one watch of each kind, instead of one in each namespace
     * @param policies all that are kept beside each other
     * @param election null for a dry run, which writes nothing and needs no Lease
     */
    record ControllerOptions(
            boolean clusterWide,
            List<RolePolicy> policies,
            String identity,
            @Nullable LeaderElectionOptions election) {

        ControllerOptions {
            policies = List.copyOf(policies);
        }
    }

    /**
     * What the Roles would contain.
     *
     * @param roles by namespace, without empty ones
     * @param incomplete the selected namespaces whose owners are not all known
     */
    record Preview(RolePolicy policy, Map<String, ImmutableSortedSet<ObjectRef>> roles, Set<String> incomplete) {}

    /** @param server not closed with this object */
    PolicyController(RolePolicy policy, Fabric8ApiServer server, ControllerOptions options) {
        this.given = policy;
        this.policy = policy;
        this.server = server;
        this.options = options;
        this.timekeeper = server.timekeeper();
        this.loop = new ControllerLoop(timekeeper);
        this.roles = server.api(RoleContent.KIND, REQUEST_TIMEOUT);
        this.definitions = new Definitions(path -> server.raw(path, REQUEST_TIMEOUT));
        this.events = EventBroadcaster.to(
                server.api(ObjectKind.EVENT, REQUEST_TIMEOUT), "podcache-grants", options.identity(), timekeeper);
        this.reviews = policy.reviews()
                ? new CachedReviews(
                        new RightsOfTheirOwn(server.accessReviews(REQUEST_TIMEOUT), options.policies()),
                        false,
                        timekeeper)
                : null;
        this.recovery = new Recovery(timekeeper);
        this.origin = timekeeper.nanoTime();
        this.elector = options.election() == null
                ? null
                : new LeaderElector(
                        server.api(
                                ObjectKind.LEASE,
                                options.election().renewDeadline().dividedBy(2)),
                        options.election(),
                        this,
                        timekeeper);
    }

    /** Competes for the Lease; a dry run begins at once. */
    void start() {
        if (elector == null) {
            startedLeading();
        } else {
            elector.start();
        }
    }

    boolean isLeading() {
        return leading;
    }

    /** Completes with what the Roles would contain now; with null while kinds are looked up. */
    CompletableFuture<@Nullable Preview> preview() {
        CompletableFuture<@Nullable Preview> preview = new CompletableFuture<>();
        loop.execute(() -> {
            RoleLedger current = ledger;
            if (current == null) {
                preview.complete(null);
                return;
            }
            List<RoleAction> actions = new ArrayList<>();
            Map<String, ImmutableSortedSet<ObjectRef>> contents = current.preview(actions);
            // reviews are no writes; events are
            actions.stream()
                    .filter(action ->
                            action instanceof RoleLedger.AskAccess || action instanceof RoleLedger.ForgetAccess)
                    .forEach(this::perform);
            Set<String> incomplete = new HashSet<>(current.incomplete());
            if (given.namespaces().selector() != null && !namespacesListed) {
                incomplete.add("(namespaces are being listed)");
            }
            preview.complete(new Preview(policy, contents, incomplete));
        });
        return preview;
    }

    @Override
    public void startedLeading() {
        leading = true;
        loop.execute(this::begin);
    }

    @Override
    public void stoppedLeading(String why) {
        leading = false;
        loop.execute(this::end);
    }

    @Override
    public void newLeader(String identity) {
        log.info("{}: {} keeps its Roles from now on", given, identity);
    }

    /** Stops, and gives the Lease up. Waits some seconds at most. */
    @Override
    public void close() {
        if (elector != null) {
            try {
                timekeeper.await(elector.stop(), CLOSE_TIMEOUT);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        leading = false;
        CompletableFuture<?> ended = new CompletableFuture<>();
        loop.execute(() -> {
            end();
            ended.complete(null);
        });
        try {
            timekeeper.await(ended, CLOSE_TIMEOUT);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        loop.close();
        events.close();
        if (reviews != null) {
            reviews.close();
        }
    }

    // terms

    private void begin() {
        end();
        if (!leading) {
            return;
        }
        int number = term;
        Set<ObjectKind<?>> kinds = new HashSet<>(given.grantedKinds());
        given.owners().forEach(owner -> kinds.add(owner.kind()));
        List<CompletableFuture<Definition>> answers =
                kinds.stream().map(definitions::find).toList();
        loop.whenDone(CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new)), (done, failure) -> {
            if (number != term || !leading) {
                return;
            }
            if (failure != null) {
                String why = ApiServerException.describe(failure);
                if (!why.equals(saidOfKinds)) {
                    saidOfKinds = why;
                    log.warn(
                            "{}: its kinds cannot be looked up: {}; trying again every {} s",
                            given,
                            why,
                            LOOK_AGAIN.toSeconds());
                }
                timer = loop.schedule(LOOK_AGAIN, this::begin);
                return;
            }
            saidOfKinds = "";
            follow(answers.stream().map(CompletableFuture::join).toList());
        });
    }

    private void end() {
        term++;
        ledger = null;
        namespacesListed = false;
        if (timer != null) {
            timer.cancel();
            timer = null;
        }
        if (namespaces != null) {
            namespaces.close();
            namespaces = null;
        }
        owners.values().forEach(scopes -> scopes.values().forEach(Reflector::close));
        owners.clear();
        followed.values().forEach(RoleSink::close);
        followed.clear();
        unselected.clear();
        leftovers.clear();
        if (leftoversTimer != null) {
            leftoversTimer.cancel();
            leftoversTimer = null;
        }
        looking.clear();
        unserved.clear();
        refusals.clear();
        asked.values().forEach(AskedReview::close);
        asked.clear();
    }

    private void follow(List<Definition> found) {
        policy = given.withKinds(kind -> Definitions.as(kind, found));
        ledger = new RoleLedger(policy, () -> ThreadLocalRandom.current().nextDouble());
        recovery = new Recovery(timekeeper);
        for (OwnerKind owner : policy.owners()) {
            owners.put(owner, new HashMap<>());
            for (Definition definition : found) {
                if (definition.kind().equals(owner.kind())) {
                    defined(owner, definition);
                }
            }
            if (options.clusterWide()) {
                followOwners(owner, "");
            }
        }
        if (policy.namespaces().selector() == null) {
            policy.namespaces().names().forEach(name -> namespace(name, Map.of(), false));
            listLeftovers(0);
        } else {
            namespaces = new Reflector<>(
                    server.inNamespace(NAMESPACE).apply("", name -> true), new NamespaceSink(term), recovery);
            namespaces.start();
        }
        run();
    }

    private void defined(OwnerKind owner, Definition definition) {
        switch (definition.state()) {
            case ABSENT -> {
                log.warn(
                        "{}: {} is not defined; nothing of it is granted until it is: {}",
                        policy,
                        owner.kind(),
                        owner.where());
                unserved.add(owner);
                ledger().definitionAbsent(owner, now());
                lookAgain(owner);
            }
            case CLUSTER_SCOPED ->
                log.error(
                        "{}: {} has no namespace, so it is not followed and its Roles never shrink: correct {}",
                        policy,
                        owner.kind(),
                        owner.where());
            case UNKNOWN -> {
                unserved.add(owner);
                lookAgain(owner);
            }
            case NAMESPACED -> {}
        }
    }

    private RoleLedger ledger() {
        return Objects.requireNonNull(ledger, "no term");
    }

    private long now() {
        return timekeeper.nanoTime() - origin;
    }

    /** Runs a task if its term is not over, and what follows from it. */
    private void inTerm(int number, Runnable task) {
        loop.execute(() -> {
            if (number == term && ledger != null) {
                try {
                    task.run();
                } finally {
                    run();
                }
            }
        });
    }

    // namespaces

    private void namespace(String name, Map<String, String> labels, boolean terminating) {
        boolean selected = policy.namespaces().selects(name, labels);
        Fetched<Role> left = leftovers.remove(name);
        if (selected) {
            unselected.remove(name);
        } else {
            unselected.add(name);
            if (left != null) {
                leftover(name, left);
            }
        }
        if (selected && !followed.containsKey(name)) {
            RoleSink role = new RoleSink(term, name);
            followed.put(name, role);
            role.reflector.start();
            if (!options.clusterWide()) {
                policy.owners().forEach(owner -> followOwners(owner, name));
            }
        }
        if (followed.containsKey(name)) {
            // the owners of a namespace that is not selected any more are followed on: its Role may have to shrink
            ledger().namespace(name, selected, terminating, now());
        }
    }

    private void namespaceGone(String name) {
        unselected.remove(name);
        leftovers.remove(name);
        RoleSink role = followed.remove(name);
        if (role != null) {
            role.close();
        }
        owners.values().forEach(scopes -> {
            Reflector<?> reflector = scopes.remove(name);
            if (reflector != null) {
                reflector.close();
            }
        });
        ledger().namespaceGone(name).forEach(this::performed);
    }

    /**
     * Lists the Roles of this policy in all namespaces and empties those in namespaces that are not selected: they were
     * taken out of the policy while nobody led. Until that is answered, it is asked again.
     *
     * @param refused how often it was refused in this term
     */
    private void listLeftovers(int refused) {
        if (elector == null) {
            return;
        }
        int number = term;
        loop.whenDone(
                sent(() -> server.named(RoleContent.KIND, policy.role()).list(LEFTOVERS_TIMEOUT)),
                (listed, failure) -> inTerm(number, () -> {
                    if (listed != null) {
                        leftovers(listed.items());
                        return;
                    }
                    FailureReason reason = ApiServerException.reasonOf(failure);
                    boolean passes = reason == null || Retries.mayPass(reason);
                    // the first refusal is not logged: an authorizer may learn of a new right late
                    if (!passes && refused > 0 && !leftoversTold) {
                        leftoversTold = true;
                        log.warn(
                                "{}: Role {} cannot be looked for in namespaces that are not selected: {}; a namespace"
                                        + " that was taken out of the policy while no controller led keeps its grants: run"
                                        + " `podcache grants --remove` before you take one out, or let this identity list"
                                        + " this Role in all namespaces, as `--print-rbac --cluster-wide` prints",
                                policy,
                                policy.role(),
                                ApiServerException.describe(failure));
                    }
                    leftoversTimer = loop.schedule(
                            passes || refused == 0 ? LOOK_AGAIN : LEFTOVERS_REFUSED,
                            () -> inTerm(number, () -> listLeftovers(passes ? refused : refused + 1)));
                }));
    }

    private void leftovers(List<Fetched<Role>> all) {
        boolean byLabels = policy.namespaces().selector() != null;
        for (Fetched<Role> role : all) {
            String namespace = role.object().getMetadata().getNamespace();
            if (followed.containsKey(namespace)) {
                continue;
            }
            if (byLabels && !unselected.contains(namespace)) {
                // it is newer than the list of namespaces, and its labels are about to be known
                leftovers.put(namespace, role);
            } else {
                leftover(namespace, role);
            }
        }
    }

    private void leftover(String namespace, Fetched<Role> found) {
        RoleContent role = RoleContent.of(found.object(), policy);
        boolean hasRules =
                found.object().getRules() != null && !found.object().getRules().isEmpty();
        if (hasRules && role.policy().equals(policy.name())) {
            log.info(
                    "{}: Role {} has rules, and its namespace is not selected: they are taken away",
                    policy,
                    key(namespace));
            ledger().namespace(namespace, false, false, now());
            ledger().roleListed(namespace, role, role.resourceVersion(), now());
        }
    }

    private void followOwners(OwnerKind owner, String scope) {
        Reflector<?> reflector = owners(owner, owner.kind(), scope);
        Objects.requireNonNull(owners.get(owner)).put(scope, reflector);
        reflector.start();
    }

    private <T extends HasMetadata> Reflector<T> owners(OwnerKind owner, ObjectKind<T> kind, String scope) {
        // each list is a quorum read of all pages
        ListerWatcher<T> all = server.inNamespace(kind).apply(scope, name -> true);
        return new Reflector<>(all, new OwnerSink<>(term, owner, scope), recovery);
    }

    /** Asks live whether a kind is defined, and again until it is served. */
    private void lookAgain(OwnerKind owner) {
        if (!looking.add(owner)) {
            return;
        }
        int number = term;
        loop.schedule(LOOK_AGAIN, () -> inTerm(number, () -> look(owner)));
    }

    private void look(OwnerKind owner) {
        int number = term;
        loop.whenDone(
                definitions.find(owner.kind()),
                (definition, failure) -> inTerm(number, () -> {
                    looking.remove(owner);
                    if (definition == null) {
                        lookAgain(owner);
                    } else if (definition.state() == Definitions.KindState.UNKNOWN) {
                        unknown(owner);
                        lookAgain(owner);
                    } else if (definition.state() == Definitions.KindState.ABSENT) {
                        // a list may have found it while this was asked: if it is gone again, its watch says so
                        if (unserved.contains(owner)) {
                            ledger().definitionAbsent(owner, now());
                            lookAgain(owner);
                        }
                    } else if (!definition.kind().plural().equals(owner.kind().plural())) {
                        begin();
                    } else {
                        Objects.requireNonNull(owners.get(owner)).values().forEach(Reflector::retry);
                    }
                }));
    }

    /** Says once in a term that a kind is not served. A server that has just started may not serve it for a while. */
    private void unknown(OwnerKind owner) {
        String apiVersion = owner.kind().apiVersion();
        if (refusals.merge(apiVersion + " " + owner.kind(), 1, Integer::sum) == LOOKS_BEFORE_A_WARNING) {
            log.warn(
                    "{}: the API server does not serve {} of {}; until it does, nothing of it is granted, and nothing is"
                            + " taken away where it counts: correct {}, or see which versions its definition serves",
                    policy,
                    owner.kind(),
                    apiVersion,
                    owner.where());
        }
    }

    // what watches say

    private final class NamespaceSink implements ReflectorSink<Namespace> {

        private final int number;

        NamespaceSink(int number) {
            this.number = number;
        }

        @Override
        public void replace(List<Fetched<Namespace>> items, String resourceVersion) {
            inTerm(number, () -> {
                Set<String> gone = new HashSet<>(followed.keySet());
                gone.addAll(unselected);
                items.forEach(item -> gone.remove(item.object().getMetadata().getName()));
                gone.forEach(PolicyController.this::namespaceGone);
                items.forEach(item -> seen(item.object()));
                if (!namespacesListed) {
                    namespacesListed = true;
                    listLeftovers(0);
                }
            });
        }

        @Override
        public void upsert(Fetched<Namespace> fetched) {
            inTerm(number, () -> seen(fetched.object()));
        }

        private void seen(Namespace namespace) {
            ObjectMeta metadata = namespace.getMetadata();
            namespace(
                    metadata.getName(),
                    Objects.requireNonNullElse(metadata.getLabels(), Map.of()),
                    metadata.getDeletionTimestamp() != null);
        }

        @Override
        public void delete(Fetched<Namespace> last) {
            inTerm(number, () -> namespaceGone(last.object().getMetadata().getName()));
        }

        @Override
        public void connected() {}

        @Override
        public void disconnected(ApiServerException cause) {
            refused(number, "namespaces", cause);
        }
    }

    /** Follows the Role of a namespace. What it says after the namespace has gone is ignored. */
    private final class RoleSink implements ReflectorSink<Role> {

        private final int number;
        private final String namespace;
        private final Reflector<Role> reflector;

        RoleSink(int number, String namespace) {
            this.number = number;
            this.namespace = namespace;
            this.reflector = Reflector.ofOneObject(
                    server.byName(RoleContent.KIND).apply(ObjectKey.of(namespace, policy.role())), this, recovery);
        }

        void close() {
            reflector.close();
        }

        private void whileFollowed(Runnable task) {
            inTerm(number, () -> {
                if (followed.get(namespace) == this) {
                    task.run();
                }
            });
        }

        @Override
        public void replace(List<Fetched<Role>> items, String resourceVersion) {
            whileFollowed(() -> ledger().roleListed(
                            namespace,
                            items.isEmpty() ? null : RoleContent.of(items.get(0).object(), policy),
                            resourceVersion,
                            now()));
        }

        @Override
        public void upsert(Fetched<Role> fetched) {
            whileFollowed(() -> ledger().roleSeen(namespace, RoleContent.of(fetched.object(), policy), now()));
        }

        @Override
        public void delete(Fetched<Role> last) {
            whileFollowed(() -> ledger().roleGone(namespace, last.resourceVersion(), now()));
        }

        @Override
        public void connected() {}

        @Override
        public void disconnected(ApiServerException cause) {
            refused(number, "Role " + namespace + "/" + policy.role(), cause);
        }
    }

    private final class OwnerSink<T extends HasMetadata> implements ReflectorSink<T> {

        private final int number;
        private final OwnerKind kind;
        private final String scope;

        OwnerSink(int number, OwnerKind kind, String scope) {
            this.number = number;
            this.kind = kind;
            this.scope = scope;
        }

        @Override
        public void replace(List<Fetched<T>> items, String resourceVersion) {
            List<GrantOwner> all = items.stream()
                    .map(item -> RolePolicy.owner(kind, item.object()))
                    .flatMap(Optional::stream)
                    .toList();
            inTerm(number, () -> {
                unserved.remove(kind);
                ledger().ownersListed(kind, scope, all, now());
            });
        }

        @Override
        public void upsert(Fetched<T> fetched) {
            Optional<GrantOwner> owner = RolePolicy.owner(kind, fetched.object());
            if (owner.isPresent()) {
                inTerm(number, () -> ledger().ownerSeen(kind, owner.get(), now()));
            } else {
                delete(fetched);
            }
        }

        @Override
        public void delete(Fetched<T> last) {
            ObjectMeta metadata = last.object().getMetadata();
            ObjectKey key = ObjectKey.of(Objects.requireNonNullElse(metadata.getNamespace(), ""), metadata.getName());
            String uid = Objects.requireNonNullElse(metadata.getUid(), "");
            inTerm(number, () -> ledger().ownerGone(kind, key, uid, now()));
        }

        @Override
        public void connected() {
            inTerm(number, () -> unserved.remove(kind));
        }

        @Override
        public void disconnected(ApiServerException cause) {
            if (cause.reason() == FailureReason.NOT_FOUND || cause.httpCode() == 410) {
                inTerm(number, () -> {
                    unserved.add(kind);
                    if (looking.add(kind)) {
                        look(kind);
                    }
                });
            }
            refused(
                    number,
                    kind.kind().plural() + " of " + (scope.isEmpty() ? "all namespaces" : "namespace " + scope),
                    cause);
        }
    }

    /**
     * Says once in a term that something cannot be watched, if that does not pass by itself. An authorizer that learns of a
     * new right late is not told of.
     */
    private void refused(int number, String what, ApiServerException cause) {
        FailureReason reason = cause.reason();
        boolean lasts =
                !Retries.mayPass(reason) && reason != FailureReason.NOT_FOUND && reason != FailureReason.EXPIRED;
        if (lasts) {
            inTerm(number, () -> {
                if (refusals.merge(what, 1, Integer::sum) == 2) {
                    log.warn(
                            "{}: {} cannot be watched: {}; until they can, nothing is taken away where they count, and what"
                                    + " is new is not granted{}",
                            policy,
                            what,
                            cause.getMessage(),
                            reason == FailureReason.FORBIDDEN
                                    ? ": apply what `podcache grants --print-rbac` prints"
                                    : "");
                }
            });
        }
    }

    // what is done

    private void run() {
        RoleLedger current = ledger;
        if (current == null || elector == null) {
            return;
        }
        boolean lasts = elector.left().compareTo(REQUEST_TIMEOUT) > 0;
        boolean done = false;
        try {
            current.actions(now(), lasts).forEach(this::performed);
            done = true;
        } finally {
            if (timer != null) {
                timer.cancel();
                timer = null;
            }
            // whatever was thrown, it is tried again
            long next = done ? current.nextAt() : now() + LOOK_AGAIN.toNanos();
            if (next != Long.MAX_VALUE) {
                Duration pause = Duration.ofNanos(Math.max(0, next - now()));
                int number = term;
                timer = loop.schedule(
                        !lasts && pause.compareTo(LEASE_PAUSE) < 0 ? LEASE_PAUSE : pause,
                        () -> inTerm(number, () -> {}));
            }
        }
    }

    /** Performs an action. If it cannot be begun, its Role is written or read later, and the other actions are performed. */
    private void performed(RoleAction action) {
        try {
            perform(action);
        } catch (RuntimeException | Error e) {
            log.error("{}: an action failed because of a bug in Podcache; it is tried again", policy, e);
            String namespace = RoleLedger.requestOf(action);
            if (namespace != null) {
                ledger().failed(namespace, e, now());
            } else if (action instanceof RoleLedger.AskAccess ask) {
                ledger().unasked(ask.question(), now());
            }
        }
    }

    private void perform(RoleAction action) {
        if (action instanceof RoleLedger.CreateRole create) {
            Role role = new RoleBuilder()
                    .withNewMetadata()
                    .withNamespace(create.namespace())
                    .withName(policy.role())
                    .addToLabels(RolePolicy.LABEL, policy.name())
                    .endMetadata()
                    .build();
            write(create.namespace(), () -> roles.create(role));
        } else if (action instanceof RoleLedger.PatchRole patch) {
            write(patch.namespace(), () -> roles.patch(key(patch.namespace()), body(patch)));
        } else if (action instanceof RoleLedger.RereadRole again) {
            reread(again.namespace());
        } else if (action instanceof RoleLedger.AskAccess ask) {
            ask(ask.question());
        } else if (action instanceof RoleLedger.ForgetAccess forget) {
            AskedReview ended = asked.remove(forget.question());
            if (ended != null) {
                ended.close();
            }
        } else if (action instanceof RoleLedger.TellOwner tell) {
            GrantOwner owner = tell.about();
            log.info("{}: {} {}", policy, owner, tell.message());
            events.event(
                    reference(owner.kind(), owner.key(), owner.uid()),
                    EventType.WARNING,
                    tell.reason(),
                    owner.kind() + " " + owner.key().name() + " " + tell.message());
        } else if (action instanceof RoleLedger.TellOfRole tell) {
            log.atLevel(tell.lasts() ? Level.WARN : Level.INFO)
                    .log("{}: Role {}: {}", policy, key(tell.namespace()), tell.message());
            events.event(
                    reference(RoleContent.KIND, key(tell.namespace()), tell.uid()),
                    EventType.WARNING,
                    tell.reason(),
                    tell.message());
        }
    }

    private void ask(SubjectQuestion question) {
        int number = term;
        ObjectRef object = question.object();
        Runnable answered = () -> inTerm(number, () -> answered(question));
        CachedReviews.Followed review = Objects.requireNonNull(reviews)
                .follow(
                        Subject.serviceAccount(object.namespace(), question.account()),
                        ResourceAccess.of(object.kind(), object.key(), "get"),
                        answered);
        // what was granted before this term counts for as long as an answer that cannot be renewed
        Timekeeper.Scheduled unanswered = loop.schedule(
                UNANSWERED,
                () -> inTerm(number, () -> {
                    if (!review.decided().isDone()) {
                        ledger().reviewed(question, SubjectVerdict.UNANSWERED, now());
                    }
                }));
        asked.put(question, new AskedReview(review, unanswered));
        review.decided().whenComplete((decided, failure) -> answered.run());
    }

    /** A review that is followed, and what happens if it is never answered. */
    private record AskedReview(CachedReviews.Followed review, Timekeeper.Scheduled unanswered) {
        void close() {
            unanswered.cancel();
            review.close();
        }
    }

    private void answered(SubjectQuestion question) {
        AskedReview known = asked.get(question);
        if (known != null && known.review.decided().isDone()) {
            known.unanswered.cancel();
            ledger().reviewed(question, verdict(known.review), now());
        }
    }

    private static SubjectVerdict verdict(CachedReviews.Followed review) {
        if (review.isAllowed()) {
            return SubjectVerdict.ALLOWED;
        }
        return review.reason().equals(RightsOfTheirOwn.BY_A_POLICY)
                ? SubjectVerdict.BY_A_POLICY
                : SubjectVerdict.DENIED;
    }

    /** Sends a request and tells the ledger how it went. */
    private void write(String namespace, Supplier<CompletableFuture<Role>> request) {
        int number = term;
        loop.whenDone(
                sent(request),
                (role, failure) -> inTerm(number, () -> {
                    if (role != null) {
                        ledger().written(namespace, RoleContent.of(role, policy), now())
                                .forEach(this::performed);
                    } else {
                        failed(namespace, ApiServerException.causeOf(failure));
                    }
                }));
    }

    private static <T> CompletableFuture<T> sent(Supplier<CompletableFuture<T>> request) {
        // in a stage, so that whatever is thrown becomes a failure of the future
        return CompletableFuture.<@Nullable Void>completedFuture(null).thenCompose(begun -> request.get());
    }

    private void failed(String namespace, Throwable failure) {
        if (ledger().failed(namespace, failure, now())) {
            log.warn(
                    "{}: Role {} cannot be written: {}; it stays as it is and is tried again. If that is forbidden, {}",
                    policy,
                    key(namespace),
                    ApiServerException.describe(failure),
                    ledger().isSelected(namespace)
                            ? "apply what `podcache grants --print-rbac` prints"
                            : "delete the Role, because its namespace is not selected any more");
        }
    }

    private void reread(String namespace) {
        int number = term;
        CompletableFuture<Boolean> confirmed = Objects.requireNonNull(elector).confirm();
        loop.whenDone(
                confirmed,
                (held, failure) -> inTerm(number, () -> {
                    if (held == null) {
                        failed(namespace, ApiServerException.causeOf(failure));
                    } else if (held) {
                        read(namespace);
                    }
                    // otherwise another process leads, and this term is about to end
                }));
    }

    private void read(String namespace) {
        int number = term;
        loop.whenDone(
                sent(() -> roles.get(key(namespace))),
                (role, failure) -> inTerm(number, () -> {
                    if (role != null) {
                        reread(namespace, RoleContent.of(role, policy));
                    } else if (ApiServerException.reasonOf(failure) == FailureReason.NOT_FOUND) {
                        reread(namespace, null);
                    } else {
                        failed(namespace, ApiServerException.causeOf(failure));
                    }
                }));
    }

    private void reread(String namespace, @Nullable RoleContent role) {
        if (ledger().reread(namespace, role, now())) {
            log.warn(
                    "{}: Role {} is older than what was seen of it, so the storage of the API server was restored;"
                            + " listing all again",
                    policy,
                    key(namespace));
            begin();
        }
    }

    private String body(RoleLedger.PatchRole patch) {
        ObjectNode body = JSON.createObjectNode();
        ObjectNode metadata = body.putObject("metadata");
        metadata.put("resourceVersion", patch.before().resourceVersion());
        metadata.put("uid", patch.before().uid());
        metadata.putObject("labels").put(RolePolicy.LABEL, policy.name());
        ArrayNode rules = body.putArray("rules");
        RoleContent.rules(patch.names(), policy).forEach(rule -> rules.add(ModelJson.tree(rule)));
        return body.toString();
    }

    private ObjectKey key(String namespace) {
        return ObjectKey.of(namespace, policy.role());
    }

    private static ObjectReference reference(ObjectKind<?> kind, ObjectKey key, String uid) {
        return new ObjectReferenceBuilder()
                .withApiVersion(kind.apiVersion())
                .withKind(kind.name())
                .withNamespace(key.namespace())
                .withName(key.name())
                .withUid(uid)
                .build();
    }
}
