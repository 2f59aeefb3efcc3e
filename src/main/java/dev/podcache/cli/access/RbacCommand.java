package dev.podcache.cli.access;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSetMultimap;
import com.google.common.collect.ImmutableSortedSet;
import com.google.common.collect.SetMultimap;
import dev.podcache.cli.config.ObjectId;
import dev.podcache.cli.output.Console;
import dev.podcache.cli.output.EventWriter;
import dev.podcache.cli.output.OutputOptions;
import dev.podcache.kubelet.agent.ObjectCaching;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.Quoted;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The subcommand {@code rbac}. */
@Command(
        name = "rbac",
        header = "Prints the smallest Roles for a cache or a node agent, ready for kubectl apply.",
        mixinStandardHelpOptions = true,
        description = {
            "For named objects, or for those that a manifest's pods refer to: one Role in each namespace with the verbs of"
                    + " the strategy, and its binding. With --node: what a node agent needs that runs as a"
                    + " ServiceAccount. A node's own identity (system:node:NAME) needs none of it: the Node authorizer"
                    + " allows it what its pods refer to. Needs no cluster.",
            "With --node and -f, the Roles also allow to request the tokens that the pods get, to read their"
                    + " ClusterTrustBundles, and to get kube-root-ca.crt, which an agent polls with every strategy.",
            "With strategy Watch, a server with streamed lists (Kubernetes 1.32, and from 1.34 on) needs the verb watch"
                    + " only. The Roles have list too, for servers that refuse such a list or are behind."
        },
        footer = {
            "",
            "Examples:",
            "  podcache rbac --secrets shop/db,shop/cert --config-maps shop/settings | kubectl apply -f -",
            "  podcache rbac -f deploy/examples/example-pod.yaml --strategy Cache --service-account shop/operator",
            "  podcache rbac --node worker-1"
        })
public final class RbacCommand implements Callable<Integer> {

    private static final String ACCOUNT = "podcache";

    private final Console console;

    @Option(names = "--node", paramLabel = "NODE", description = "the node that an agent runs as")
    private @Nullable String node;

    @Option(
            names = "--service-account",
            paramLabel = "NAMESPACE/NAME",
            description =
                    "who gets the access; default: podcache in the namespace of the objects, or in kube-system for"
                            + " a node")
    private @Nullable String account;

    @Option(names = "--user", paramLabel = "USER", description = "who gets the access, if it is no ServiceAccount")
    private @Nullable String user;

    @Option(
            names = "--name",
            paramLabel = "NAME",
            description =
                    "the name of the Roles; applying them replaces Roles of that name; default: podcache-reader, or"
                            + " podcache-NODE for a node")
    private @Nullable String name;

    @Mixin
    private ObjectOptions objects = new ObjectOptions();

    @Mixin
    private OutputOptions output = new OutputOptions();

    public RbacCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        ImmutableSortedSet<ObjectId> named = objects.objects(console);
        if (node == null && named.isEmpty()) {
            throw objects.usage("the objects are missing: set --secrets, --config-maps, -f or --node");
        }
        RoleSubject subject = subject(node == null ? named.first().key().namespace() : "kube-system");
        ImmutableList.Builder<Map<String, Object>> manifests = ImmutableList.builder();
        if (node != null) {
            String legal = objects.node(node);
            List<AccessRule> bundles = NodeAccess.trustBundles(
                    objects.trustBundles(console), objects.access().verbs());
            manifests.addAll(new RoleManifests(nameOr(ACCOUNT + "-" + legal), subject).forNode(legal, bundles));
        }
        // only an agent requests tokens
        manifests.addAll(new RoleManifests(nameOr(ACCOUNT + "-reader"), subject)
                .forVerbs(verbs(named), node == null ? Set.of() : objects.tokenAccounts(console)));
        if (output.format == EventWriter.Format.TEXT) {
            console.out().println("# for " + Quoted.text(subject.toString()));
        }
        ManifestWriter.write(manifests.build(), output.format, console.out());
        return 0;
    }

    private SetMultimap<ObjectId, String> verbs(Set<ObjectId> named) {
        ImmutableSetMultimap.Builder<ObjectId, String> verbs = ImmutableSetMultimap.builder();
        for (ObjectId object : named) {
            boolean polled = node != null && ObjectCaching.isPolled(object.key());
            verbs.putAll(object, (polled ? StrategyAccess.GET : objects.access()).verbs());
        }
        return verbs.build();
    }

    private RoleSubject subject(String defaultNamespace) {
        if (account != null && user != null) {
            throw objects.usage("--service-account and --user exclude each other: set one of them");
        }
        if (user != null) {
            if (user.isBlank()) {
                throw objects.usage("--user is empty: give the name of a user");
            }
            return RoleSubject.user(user);
        }
        String given = account == null ? ACCOUNT : account;
        int slash = given.indexOf('/');
        String namespace = slash < 0 ? defaultNamespace : given.substring(0, slash);
        return RoleSubject.account(legal("--service-account", namespace, given.substring(slash + 1)));
    }

    private String nameOr(String usual) {
        return name == null ? usual : legal("--name", "default", name).name();
    }

    private ObjectKey legal(String option, String namespace, String text) {
        try {
            return ObjectKey.validated(namespace, text);
        } catch (IllegalArgumentException e) {
            throw objects.usage(option + ": " + e.getMessage());
        }
    }
}
