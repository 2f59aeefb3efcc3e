package dev.podcache.cli.access;

import com.google.common.collect.ImmutableMap;
import dev.podcache.access.AuditedReads;
import dev.podcache.access.AuditedReads.AuditedRead;
import dev.podcache.access.Definitions;
import dev.podcache.access.GrantPolicy;
import dev.podcache.access.Grants;
import dev.podcache.access.GrantsDryRun;
import dev.podcache.access.GrantsDryRun.WouldGrant;
import dev.podcache.access.RolePolicy;
import dev.podcache.access.RoleRemoval;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.apiserver.fabric8.RequestLimit;
import dev.podcache.cli.config.ClusterAccess;
import dev.podcache.cli.output.CommandException;
import dev.podcache.cli.output.Console;
import dev.podcache.cli.output.EventWriter;
import dev.podcache.cli.output.OutputOptions;
import dev.podcache.cli.output.ProgramEvent;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import dev.podcache.object.Quoted;
import io.fabric8.kubernetes.client.Config;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The subcommand {@code grants}. */
@Command(
        name = "grants",
        header = "Keeps Roles equal to what resources refer to now, so that an operator may read exactly that.",
        mixinStandardHelpOptions = true,
        description = {
            "Follows the owners that the policies of a file select and keeps one Role in each namespace: it grants the"
                    + " Secrets and ConfigMaps, by name, that the owners there refer to. The first reference adds a name,"
                    + " the last one removes it. Several processes may run; one leads.",
            "Whoever may create an owner chooses what the operator may read; --print-rbac says so first, and"
                    + " onBehalfOf in a policy grants only what the owner's ServiceAccount may get.",
            "Without an option that says otherwise, it runs until it is stopped. Its own identity needs what --print-rbac"
                    + " prints, and can read none of the objects."
        },
        footer = {
            "",
            "Examples:",
            "  podcache grants --file orders.yaml --print-rbac --operator shop/operator | kubectl apply -f -",
            "  podcache grants --file orders.yaml --dry-run --for 10m --operator shop/operator --audit-log audit.log",
            "  podcache grants --file orders.yaml",
            "  podcache grants --file orders.yaml --remove",
            "",
            "Exit codes: 0 success, 1 failure, 2 wrong command line."
        })
public final class GrantsCommand implements Callable<Integer> {

    private static final Duration CONTACT = Duration.ofSeconds(10);
    private static final Duration LOOK = Duration.ofSeconds(1);

    private static final ObjectKind<?> ADMISSION_POLICY = ObjectKind.of(
            "admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", "validatingadmissionpolicies", false);

    private final Console console;

    @Spec
    private @Nullable CommandSpec spec;

    @Option(
            names = {"-f", "--file"},
            paramLabel = "FILE",
            description = "the policies, which must be given: documents of kind GrantPolicy in YAML or JSON")
    private @Nullable Path file;

    @Option(
            names = "--kubeconfig",
            paramLabel = "FILE",
            description = "the kubeconfig; default: $KUBECONFIG, the pod's service account, ~/.kube/config")
    private @Nullable Path kubeconfig;

    @Option(
            names = "--print-rbac",
            description =
                    "print what the identities of the controller and of the operator need, each rule with its reason,"
                            + " ready for kubectl apply; asks the API server for plurals, and for the namespaces that labels"
                            + " select. Without a kubeconfig and without labels it derives the plurals")
    private boolean printRbac;

    @Option(
            names = "--dry-run",
            description =
                    "write nothing; print what would be granted and, with --audit-log, which reads would be refused and"
                            + " which names nobody reads")
    private boolean dryRun;

    @Option(
            names = "--remove",
            description = "empty the Roles of the policies, and end; the Roles and their bindings stay")
    private boolean remove;

    @Option(
            names = "--cluster-wide",
            description =
                    "follow each kind of owners with one watch for all namespaces; needs a ClusterRole instead of a Role in"
                            + " each namespace")
    private boolean clusterWide;

    @Option(
            names = "--lease-namespace",
            paramLabel = "NAME",
            description =
                    "the namespace of the Leases by which one process leads; default: that of the kubeconfig, else"
                            + " default")
    private @Nullable String leaseNamespace;

    @Option(
            names = "--controller",
            paramLabel = "NAMESPACE/NAME|USER",
            description =
                    "for --print-rbac: the ServiceAccount or user that runs this program; default: podcache-grants in the"
                            + " namespace of the Leases")
    private @Nullable String controller;

    @Option(
            names = "--operator",
            paramLabel = "NAMESPACE/NAME|USER",
            description =
                    "for --print-rbac and --audit-log: the ServiceAccount or user that reads what is granted; default:"
                            + " podcache in the namespace of the Leases")
    private @Nullable String operator;

    @Option(
            names = "--audit-log",
            paramLabel = "FILE",
            description =
                    "for --dry-run: an audit log of the API server, one event a line, with the reads of the operator")
    private @Nullable Path auditLog;

    @Option(
            names = "--for",
            paramLabel = "DURATION",
            description = "end after this time, such as 10m; default: do not end;"
                    + " with --dry-run: end when all owners are known")
    private @Nullable Duration duration;

    @Mixin
    private OutputOptions output = new OutputOptions();

    public GrantsCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        if (Stream.of(printRbac, dryRun, remove).filter(mode -> mode).count() > 1) {
            throw usage("--print-rbac, --dry-run and --remove exclude each other: set one of them");
        }
        if (duration != null && (printRbac || remove)) {
            throw usage("--for is not for --print-rbac and --remove, which end by themselves: leave --for out");
        }
        if (auditLog != null && !dryRun) {
            throw usage("--audit-log is for --dry-run: add it, or leave --audit-log out");
        }
        if (auditLog != null && operator == null) {
            throw usage("--audit-log needs --operator: say whose reads to look for");
        }
        if (leaseNamespace != null) {
            legal("--lease-namespace", leaseNamespace, "x");
        }
        GrantPolicy policy = policy();
        console.logging().accept(output.level(printRbac || remove || dryRun ? Level.ERROR : Level.INFO));
        if (printRbac) {
            print(policy);
        } else if (dryRun) {
            preview(policy);
        } else if (remove) {
            remove(policy);
        } else {
            run(policy);
        }
        return 0;
    }

    private GrantPolicy policy() {
        if (file == null) {
            throw usage("the policies are missing: set --file");
        }
        try {
            return GrantPolicy.read(file);
        } catch (IllegalArgumentException e) {
            throw new CommandException(String.valueOf(e.getMessage()), e);
        }
    }

    private Config config() {
        return new ClusterAccess(console.environment(), console.home()).config(kubeconfig);
    }

    private String leases(@Nullable Config config) {
        if (leaseNamespace != null) {
            return leaseNamespace;
        }
        return config == null || config.getNamespace() == null ? "default" : config.getNamespace();
    }

    // run

    private void run(GrantPolicy policy) {
        Config config = config();
        Grants grants = started(policy, config);
        try (EventWriter events = EventWriter.to(console.out(), output.format)) {
            for (RolePolicy role : policy.roles()) {
                events.write(new ProgramEvent(
                        "started",
                        role + ", server " + config.getMasterUrl(),
                        ImmutableMap.of("policy", role.name(), "role", role.role(), "server", config.getMasterUrl())));
            }
            console.await(duration, events);
        } finally {
            grants.close();
        }
    }

    private Grants started(GrantPolicy policy, Config config) {
        String host = console.environment().getOrDefault("HOSTNAME", "podcache-grants");
        // reads the credentials, so that unusable ones are said at once
        ClusterAccess.server(config, RequestLimit.DEFAULT).close();
        try {
            return Grants.builder(config)
                    .policy(policy)
                    .clusterWide(clusterWide)
                    .leaseNamespace(leases(config))
                    .identity(host + "_" + UUID.randomUUID())
                    .start();
        } catch (IllegalArgumentException e) {
            throw new CommandException(String.valueOf(e.getMessage()), e);
        }
    }

    // --print-rbac

    private void print(GrantPolicy policy) {
        Config config = configOrNone(policy);
        String leases = leases(config);
        GrantManifests manifests;
        List<GrantManifests.ExplainedManifest> printed;
        boolean admission = true;
        boolean known = false;
        List<RolePolicy> policies = policy.roles();
        Map<String, List<RolePolicy>> selected;
        if (config == null) {
            selected = named(policies);
        } else {
            try (Fabric8ApiServer server = ClusterAccess.server(config, RequestLimit.DEFAULT)) {
                Definitions definitions = new Definitions(path -> server.raw(path, CONTACT));
                policies = answered(config, () -> withPlurals(policy.roles(), definitions));
                List<RolePolicy> resolved = policies;
                selected = answered(config, () -> selected(server, resolved));
                admission = answered(
                        config,
                        () -> definitions
                                .serves("admissionregistration.k8s.io/v1")
                                .thenCompose(served -> served
                                        ? definitions.find(ADMISSION_POLICY)
                                        : CompletableFuture.completedFuture(null))
                                .thenApply(
                                        found -> found != null && found.state() == Definitions.KindState.CLUSTER_SCOPED)
                                .join());
                known = true;
            }
        }
        manifests = new GrantManifests(
                policies,
                subject("--controller", controller, leases, "podcache-grants"),
                subject("--operator", operator, leases, "podcache"),
                leases);
        printed = new ArrayList<>(clusterWide ? manifests.clusterWide(selected) : manifests.byNamespace(selected));
        if (admission) {
            printed.addAll(manifests.admission());
        }
        if (output.format == EventWriter.Format.JSON) {
            ManifestWriter.write(
                    printed.stream()
                            .map(GrantManifests.ExplainedManifest::manifest)
                            .toList(),
                    output.format,
                    console.out());
            return;
        }
        warnings(policies).forEach(line -> console.out().println("# " + line));
        console.out()
                .println("# for " + Quoted.text(manifests.controller().toString()) + ", which keeps the Roles, and "
                        + Quoted.text(manifests.operator().toString()) + ", which reads what they grant");
        if (config == null
                && policies.stream().anyMatch(each -> each.namespaces().selector() != null)) {
            console.out()
                    .println("# bind each Role to the operator in each selected namespace: they are printed here only"
                            + " with a kubeconfig");
        }
        if (admission && !known) {
            console.out()
                    .println("# leave the ValidatingAdmissionPolicy and its binding out for a server before Kubernetes"
                            + " 1.30");
        } else if (!admission) {
            console.out()
                    .println("# this server has no ValidatingAdmissionPolicy (Kubernetes 1.30): nothing but this page"
                            + " limits what rules the controller writes into its Roles");
        }
        printed.forEach(manifest -> console.out().print(manifest.text()));
        if (console.out().checkError()) {
            throw new CommandException(
                    "standard output cannot be written: its reader closed it, or its disk is full", null);
        }
    }

    /** Who decides, for each kind of owners. */
    private static List<String> warnings(List<RolePolicy> policies) {
        Set<String> lines = new LinkedHashSet<>();
        for (RolePolicy policy : policies) {
            for (RolePolicy.OwnerKind owner : policy.owners()) {
                lines.add("whoever may create a " + owner.kind() + " chooses what the operator may read"
                        + (owner.onBehalfOf() == null
                                ? ": any " + kinds(owner) + " of its namespace"
                                : ", if the ServiceAccount in "
                                        + Quoted.text(owner.onBehalfOf().toString()) + " may get it"));
            }
        }
        return List.copyOf(lines);
    }

    private static String kinds(RolePolicy.OwnerKind owner) {
        return String.join(
                " or ", owner.referencedKinds().stream().map(ObjectKind::name).toList());
    }

    /** Returns where the cluster is; null if none is configured and none is needed. */
    private @Nullable Config configOrNone(GrantPolicy policy) {
        boolean needed = kubeconfig != null
                || (!clusterWide
                        && policy.roles().stream()
                                .anyMatch(role -> role.namespaces().selector() != null));
        try {
            return config();
        } catch (CommandException e) {
            if (!needed) {
                return null;
            }
            throw kubeconfig != null
                    ? e
                    : new CommandException(
                            "the policy selects namespaces by labels, so a cluster has to list them: " + e.getMessage()
                                    + "; or set --cluster-wide",
                            e);
        }
    }

    private static Map<String, List<RolePolicy>> named(List<RolePolicy> policies) {
        Map<String, List<RolePolicy>> selected = new TreeMap<>();
        policies.forEach(policy -> policy.namespaces()
                .names()
                .forEach(name -> selected.computeIfAbsent(name, each -> new ArrayList<>())
                        .add(policy)));
        return selected;
    }

    private static Map<String, List<RolePolicy>> selected(Fabric8ApiServer server, List<RolePolicy> policies) {
        Map<String, List<RolePolicy>> selected = new TreeMap<>();
        policies.forEach(policy -> RoleRemoval.selected(server, policy)
                .forEach(name -> selected.computeIfAbsent(name, each -> new ArrayList<>())
                        .add(policy)));
        return selected;
    }

    private static List<RolePolicy> withPlurals(List<RolePolicy> policies, Definitions definitions) {
        List<RolePolicy> resolved = new ArrayList<>();
        for (RolePolicy policy : policies) {
            Set<ObjectKind<?>> kinds = new HashSet<>(policy.grantedKinds());
            policy.owners().forEach(owner -> kinds.add(owner.kind()));
            List<Definitions.Definition> found =
                    kinds.stream().map(kind -> definitions.find(kind).join()).toList();
            found.stream()
                    .filter(definition -> definition.state() == Definitions.KindState.CLUSTER_SCOPED)
                    .findFirst()
                    .ifPresent(definition -> {
                        throw new CommandException(
                                definition.kind().apiVersion() + " " + definition.kind()
                                        + " has no namespace: a Role grants only in the namespace of the owner; leave it"
                                        + " out of the policy",
                                null);
                    });
            resolved.add(policy.withKinds(kind -> Definitions.as(kind, found)));
        }
        return resolved;
    }

    // --dry-run

    private void preview(GrantPolicy policy) {
        Config config = config();
        Map<AuditedRead, Integer> reads;
        List<WouldGrant> granted;
        try (EventWriter events = EventWriter.discarding();
                Fabric8ApiServer server = ClusterAccess.server(config, RequestLimit.UNLIMITED);
                GrantsDryRun run = GrantsDryRun.start(server, policy, clusterWide)) {
            granted = watched(run, events);
        }
        try (EventWriter events = EventWriter.to(console.out(), output.format)) {
            reads = audited();
            for (WouldGrant would : granted) {
                report(would, granted, reads, events);
            }
            if (granted.isEmpty()) {
                throw new CommandException(
                        "the kinds of the policy could not be looked up at " + config.getMasterUrl()
                                + ": check the connection with doctor",
                        null);
            }
            reportOfOtherKinds(granted, reads, events);
            events.requireReader();
        }
    }

    /** Looks again and again, until the time is over or all is known. */
    private List<WouldGrant> watched(GrantsDryRun run, EventWriter events) {
        long start = System.nanoTime();
        Duration patience = duration == null ? CONTACT.multipliedBy(3) : duration;
        while (true) {
            List<WouldGrant> granted = run.look().join();
            boolean complete = !granted.isEmpty()
                    && granted.stream().allMatch(would -> would.incomplete().isEmpty());
            boolean over = System.nanoTime() - start >= patience.toNanos();
            if (over || (complete && duration == null) || !console.await(LOOK, events)) {
                return granted;
            }
        }
    }

    private Map<AuditedRead, Integer> audited() {
        if (auditLog == null) {
            return Map.of();
        }
        RoleSubject who = subject("--operator", operator, "default", "podcache");
        String user =
                who.namespace().isEmpty() ? who.name() : "system:serviceaccount:" + who.namespace() + ":" + who.name();
        try {
            return AuditedReads.reads(auditLog, user);
        } catch (UncheckedIOException e) {
            throw new CommandException(
                    "audit log " + Quoted.value(auditLog.toString())
                            + " cannot be read: give the path of a readable file",
                    e);
        } catch (IllegalArgumentException e) {
            throw new CommandException("audit log " + Quoted.value(auditLog.toString()) + " " + e.getMessage(), e);
        }
    }

    private void report(WouldGrant would, List<WouldGrant> all, Map<AuditedRead, Integer> reads, EventWriter events) {
        RolePolicy policy = would.policy();
        would.incomplete()
                .forEach(namespace -> events.block(new ProgramEvent(
                        "unknown",
                        "Role " + policy.role() + ": not all owners in " + namespace
                                + " are known: run it for longer, or check the access"
                                + " of this identity to the owners",
                        ImmutableMap.of("policy", policy.name(), "namespace", namespace))));
        would.names()
                .forEach((namespace, names) -> events.block(new ProgramEvent(
                        "grants",
                        "Role " + namespace + "/" + policy.role() + " would grant: "
                                + String.join(
                                        ", ",
                                        names.stream()
                                                .map(name -> name.kind() + " " + name.name())
                                                .toList()),
                        ImmutableMap.of(
                                "policy",
                                policy.name(),
                                "namespace",
                                namespace,
                                "names",
                                names.stream()
                                        .map(name -> name.kind() + " " + name.name())
                                        .toList()))));
        if (auditLog == null) {
            return;
        }
        Set<ObjectRef> unread = new TreeSet<>();
        would.names().values().forEach(unread::addAll);
        int refused = 0;
        for (Map.Entry<AuditedRead, Integer> read : reads.entrySet()) {
            ObjectKind<?> kind = kind(policy, read.getKey());
            if (kind == null) {
                continue;
            }
            ObjectRef object =
                    ObjectRef.of(kind, read.getKey().namespace(), read.getKey().name());
            Set<ObjectRef> names = would.names().getOrDefault(object.namespace(), Set.of());
            if (grants(would, read.getKey())) {
                unread.remove(object);
            } else if (all.stream().noneMatch(other -> grants(other, read.getKey()))) {
                refused++;
                events.block(new ProgramEvent(
                        "refused",
                        "Role " + policy.role() + " would refuse: " + read.getKey() + ", which was made "
                                + read.getValue() + " times; "
                                + why(object, names, policy),
                        ImmutableMap.of(
                                "policy", policy.name(), "read", read.getKey().toString(), "times", read.getValue())));
            }
        }
        unread.forEach(object -> events.block(new ProgramEvent(
                "unread",
                "Role " + policy.role() + " would grant what nobody reads: " + object,
                ImmutableMap.of("policy", policy.name(), "object", object.toString()))));
        events.block(new ProgramEvent(
                "total",
                "Role " + policy.role() + ": " + refused + " kinds of reads would have been refused, " + unread.size()
                        + " names are read by nobody",
                ImmutableMap.of("policy", policy.name(), "refused", refused, "unread", unread.size())));
    }

    /** Returns whether the Roles of a policy would allow a read. RBAC allows what any Role allows. */
    private static boolean grants(WouldGrant would, AuditedRead read) {
        ObjectKind<?> kind = kind(would.policy(), read);
        return kind != null
                && would.policy().verbs().contains(read.verb())
                && would.names()
                        .getOrDefault(read.namespace(), Set.of())
                        .contains(ObjectRef.of(kind, read.namespace(), read.name()));
    }

    /**
     * Says which resources were read that no policy grants. Whether these reads go on working is decided by other Roles: those
     * of the operator's own resources stay, but the broad Role may give others, which go with it.
     */
    private static void reportOfOtherKinds(List<WouldGrant> all, Map<AuditedRead, Integer> reads, EventWriter events) {
        Map<String, Set<String>> verbs = new TreeMap<>();
        Map<String, Integer> times = new TreeMap<>();
        reads.forEach((read, made) -> {
            // a path such as /apis has no resource, and everybody may read it
            if (!read.resource().isEmpty() && all.stream().allMatch(would -> kind(would.policy(), read) == null)) {
                String resources = read.group().isEmpty() ? read.resource() : read.resource() + "." + read.group();
                verbs.computeIfAbsent(resources, each -> new TreeSet<>()).add(read.verb());
                times.merge(resources, made, Integer::sum);
            }
        });
        times.forEach((resources, made) -> events.block(new ProgramEvent(
                "unjudged",
                "not judged: " + String.join(", ", verbs.getOrDefault(resources, Set.of())) + " of " + resources
                        + ", which was made " + made + " times; no policy grants it: keep a Role for it",
                ImmutableMap.of("resource", resources, "times", made))));
    }

    private static String why(ObjectRef object, Set<ObjectRef> names, RolePolicy policy) {
        if (object.name().isEmpty()) {
            return "a Role with names allows only requests that select one name";
        }
        return names.contains(object)
                ? "the policy grants only " + String.join(", ", policy.verbs())
                : "no owner there names it";
    }

    private static @Nullable ObjectKind<?> kind(RolePolicy policy, AuditedRead read) {
        for (ObjectKind<?> kind : policy.grantedKinds()) {
            String version = kind.apiVersion();
            String group = version.contains("/") ? version.substring(0, version.indexOf('/')) : "";
            if (kind.plural().equals(read.resource()) && group.equals(read.group())) {
                return kind;
            }
        }
        return null;
    }

    // --remove

    private void remove(GrantPolicy policy) {
        Config config = config();
        try (EventWriter events = EventWriter.to(console.out(), output.format);
                Fabric8ApiServer server = ClusterAccess.server(config, RequestLimit.DEFAULT)) {
            RoleRemoval removal = new RoleRemoval(server);
            for (RolePolicy role : policy.roles()) {
                answered(config, () -> removal.leader(role, leases(config))).ifPresent(leader -> {
                    throw new CommandException(
                            "Lease " + leases(config) + "/" + Grants.leaseName(role.name()) + " is held by "
                                    + Quoted.value(leader) + ", which would fill the Roles again: stop it first",
                            null);
                });
            }
            int emptied = 0;
            for (RolePolicy role : policy.roles()) {
                RoleRemoval.Emptied done = answered(config, () -> removal.empty(role));
                for (ObjectKey key : done.roles()) {
                    emptied++;
                    events.block(new ProgramEvent(
                            "emptied", "emptied Role " + key, ImmutableMap.of("role", key.toString())));
                }
                ApiServerException unlisted = done.unlisted();
                if (unlisted != null) {
                    events.block(ProgramEvent.of(
                            "incomplete",
                            "reason",
                            role + ": only the namespaces that it selects now were looked at: " + unlisted.getMessage()
                                    + "; to empty the Roles in others, run this with credentials that may list and patch"
                                    + " Role " + role.role() + " in all namespaces"));
                }
            }
            events.block(new ProgramEvent(
                    "total",
                    emptied + (emptied == 1 ? " Role grants" : " Roles grant") + " nothing any more",
                    ImmutableMap.of("emptied", emptied)));
            events.requireReader();
        }
    }

    private static <T> T answered(Config config, Supplier<T> requests) {
        try {
            return requests.get();
        } catch (ApiServerException e) {
            throw refused(config, e);
        } catch (CompletionException e) {
            if (e.getCause() instanceof ApiServerException failure) {
                throw refused(config, failure);
            }
            throw e;
        }
    }

    private static CommandException refused(Config config, ApiServerException failure) {
        return new CommandException(
                "API server " + config.getMasterUrl() + ": " + failure.getMessage()
                        + "; check connection and access with doctor",
                failure);
    }

    private RoleSubject subject(String option, @Nullable String given, String namespace, String usual) {
        if (given == null) {
            return RoleSubject.account(legal(option, namespace, usual));
        }
        if (given.isBlank()) {
            throw usage(option + " is empty: give NAMESPACE/NAME of a ServiceAccount, or the name of a user");
        }
        int slash = given.indexOf('/');
        return slash < 0
                ? RoleSubject.user(given)
                : RoleSubject.account(legal(option, given.substring(0, slash), given.substring(slash + 1)));
    }

    private ObjectKey legal(String option, String namespace, String name) {
        try {
            return ObjectKey.validated(namespace, name);
        } catch (IllegalArgumentException e) {
            throw usage(option + ": " + e.getMessage());
        }
    }

    private ParameterException usage(String message) {
        return new ParameterException(Objects.requireNonNull(spec, "spec").commandLine(), message);
    }
}
