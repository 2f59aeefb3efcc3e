package dev.podcache.cli.doctor;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSortedSet;
import dev.podcache.access.GrantPolicy;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.apiserver.fabric8.RequestLimit;
import dev.podcache.cli.access.ManifestWriter;
import dev.podcache.cli.access.ObjectOptions;
import dev.podcache.cli.config.ClusterAccess;
import dev.podcache.cli.config.ObjectId;
import dev.podcache.cli.output.CommandException;
import dev.podcache.cli.output.Console;
import dev.podcache.cli.output.EventWriter;
import dev.podcache.cli.output.OutputOptions;
import dev.podcache.cli.output.ProgramEvent;
import dev.podcache.cli.output.Progress;
import dev.podcache.object.ObjectKey;
import io.fabric8.kubernetes.client.Config;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The subcommand {@code doctor}. */
@Command(
        name = "doctor",
        header = "Checks connection, clock, credentials and access, and says what to do.",
        mixinStandardHelpOptions = true,
        description = {
            "Connects as a cache with these credentials would. Checks address, proxy, TLS, HTTP/2 and its stream limit, the"
                    + " clocks, the credentials, and with one SelfSubjectAccessReview for each verb and object whether"
                    + " the objects may be cached. Prints the smallest Role that is missing. Changes nothing, and reads"
                    + " no Secret or ConfigMap. Run it with the credentials that the program will have."
        },
        footer = {
            "",
            "Examples:",
            "  podcache doctor --kubeconfig shop.kubeconfig --secrets shop/db --config-maps shop/settings",
            "  podcache doctor -f deploy/examples/example-pod.yaml --strategy Cache",
            "  podcache doctor -f deploy/examples/example-pod.yaml --only-roles | kubectl apply -f -",
            "  podcache doctor -f deploy/examples/example-pod.yaml --node worker-1",
            "  podcache doctor --grants deploy/examples/grant-policy.yaml",
            "",
            "Exit codes: 0 all is well, 1 failure, 2 wrong command line, 3 a problem was found."
        })
public final class DoctorCommand implements Callable<Integer> {

    private static final int FOUND_A_PROBLEM = 3;

    private final Console console;

    @Option(
            names = "--kubeconfig",
            paramLabel = "FILE",
            description = "the kubeconfig; default: $KUBECONFIG, the pod's service account, ~/.kube/config")
    private @Nullable Path kubeconfig;

    @Option(
            names = "--node",
            paramLabel = "NODE",
            description =
                    "the node that an agent with these credentials runs as: also checks that it may request the tokens of its"
                            + " pods, and may get what it polls; that the node is registered and Ready, its Lease, its"
                            + " certificate requests, and whether kubectl logs reaches it")
    private @Nullable String node;

    @Option(names = "--only-roles", description = "print only the Roles that are missing, for kubectl apply")
    private boolean onlyRoles;

    @Option(
            names = "--grants",
            paramLabel = "FILE",
            description = "the policies of podcache grants: shows for each owner what it refers to, and what of that is"
                    + " granted; finds Roles of policies that are gone; says when the broad Role may go. Needs credentials"
                    + " that may list namespaces, owners, Roles and bindings")
    private @Nullable Path grants;

    @Mixin
    private ObjectOptions options = new ObjectOptions();

    @Mixin
    private OutputOptions output = new OutputOptions();

    public DoctorCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        ImmutableSortedSet<ObjectId> objects = options.objects(console);
        Optional<String> checked = Optional.ofNullable(node).map(options::node);
        ImmutableSortedSet<ObjectKey> tokenAccounts =
                node == null ? ImmutableSortedSet.of() : options.tokenAccounts(console);
        GrantPolicy policy = grants == null ? null : policy(grants);
        console.logging().accept(output.level(Level.ERROR));
        Config config = new ClusterAccess(console.environment(), console.home()).config(kubeconfig);
        // every review is sent, and not too many at a time
        try (EventWriter events = EventWriter.to(console.out(), output.format);
                Fabric8ApiServer server = Fabric8ApiServer.of(config, RequestLimit.UNLIMITED)) {
            Checkup checkup = new Checkup(server, config, options.access(), objects, checked, tokenAccounts);
            Progress progress = new Progress(console);
            checkup.run(future -> {
                await(future, events);
                progress.show(checkup.progress());
            });
            progress.clear();
            List<Diagnosis> diagnoses = new ArrayList<>(checkup.diagnoses());
            if (policy != null && diagnoses.stream().noneMatch(Diagnosis::isProblem)) {
                GrantsCheckup granted = new GrantsCheckup(server, policy);
                granted.run(future -> await(future, events));
                diagnoses.addAll(granted.diagnoses());
            }
            return report(diagnoses, checkup.roles(), events);
        }
    }

    private static GrantPolicy policy(Path file) {
        try {
            return GrantPolicy.read(file);
        } catch (IllegalArgumentException e) {
            throw new CommandException(String.valueOf(e.getMessage()), e);
        }
    }

    private void await(CompletableFuture<?> future, EventWriter events) {
        if (!console.await(future, events)) {
            throw new CommandException("ended before all was checked", null);
        }
    }

    private int report(List<Diagnosis> diagnoses, List<Map<String, Object>> roles, EventWriter events) {
        long problems = diagnoses.stream().filter(Diagnosis::isProblem).count();
        if (onlyRoles) {
            ManifestWriter.write(roles, output.format, console.out());
            diagnoses.stream()
                    .filter(Diagnosis::isProblem)
                    .forEach(problem -> console.err()
                            .println(problem.event(console.terminal()).text()));
        } else {
            diagnoses.forEach(each -> events.block(each.event(console.terminal())));
            events.block(summary(problems));
            roles.forEach(role -> events.block(
                    new ProgramEvent("role", ManifestWriter.document(role), ImmutableMap.of("manifest", role))));
            events.requireReader();
        }
        return problems == 0 ? 0 : FOUND_A_PROBLEM;
    }

    private static ProgramEvent summary(long problems) {
        String text =
                problems == 0 ? "no problem found" : problems == 1 ? "1 problem found" : problems + " problems found";
        return new ProgramEvent("summary", text, ImmutableMap.of("problems", problems));
    }
}
