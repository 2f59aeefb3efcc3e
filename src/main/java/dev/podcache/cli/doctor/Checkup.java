package dev.podcache.cli.doctor;

import com.google.common.base.Throwables;
import com.google.common.collect.HashMultimap;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.Lists;
import com.google.common.collect.SetMultimap;
import dev.podcache.apiserver.AccessReviews;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.credentials.CredentialsException;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.apiserver.http.ConnectionFacts;
import dev.podcache.cli.access.StrategyAccess;
import dev.podcache.cli.config.ObjectId;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.Quoted;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.certificates.v1.CertificateSigningRequest;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.client.Config;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Asks the API server and collects what the answers mean. Used by one thread. */
final class Checkup {

    private static final Duration TIMEOUT = Duration.ofSeconds(15);

    /** Reviews in flight at a time. */
    private static final int BATCH = 50;

    private static final ObjectKind<CertificateSigningRequest> REQUEST = ObjectKind.of(CertificateSigningRequest.class);

    private final Fabric8ApiServer server;
    private final Config config;
    private final StrategyAccess access;
    private final Set<ObjectId> objects;
    private final Optional<String> node;
    private final Set<ObjectKey> tokenAccounts;
    private final List<Diagnosis> found = new ArrayList<>();
    private List<Map<String, Object>> roles = List.of();
    private int reviewed;

    /** A verb on an object, and whether it is allowed. */
    private record VerbReview(ObjectId object, String verb, CompletableFuture<Boolean> allowed) {}

    /**
     * Creates a checkup that has asked nothing.
     *
     * @param node the node of an agent that will cache the objects; its registration, Lease, certificate requests and endpoint
     *     are looked at, too
     * @param tokenAccounts the ServiceAccounts whose tokens the agent will request
     */
    Checkup(
            Fabric8ApiServer server,
            Config config,
            StrategyAccess access,
            Set<ObjectId> objects,
            Optional<String> node,
            Set<ObjectKey> tokenAccounts) {
        this.node = node;
        this.tokenAccounts = tokenAccounts;
        this.server = server;
        this.config = config;
        this.access = access;
        this.objects = objects;
    }

    /** Returns what was found, in the order of the checks. */
    List<Diagnosis> diagnoses() {
        return found;
    }

    /** Returns how far the checks are. */
    String progress() {
        return reviewed + " of " + objects.size() + " objects checked";
    }

    /** Returns the Roles that are missing, and their bindings. */
    List<Map<String, Object>> roles() {
        return roles;
    }

    /**
     * Asks one question after the other.
     *
     * @param wait waits until a request has ended, or throws if it must not wait any longer
     */
    void run(Consumer<CompletableFuture<?>> wait) {
        CompletableFuture<?> credentials = server.rereadCredentials();
        wait.accept(credentials.handle((read, thrown) -> ""));
        CredentialsException unreadable = unreadable(credentials);
        if (unreadable != null) {
            found.add(CredentialDiagnoses.unreadable(unreadable));
            return;
        }
        CompletableFuture<ConnectionFacts> probe = server.probe(TIMEOUT);
        wait.accept(probe);
        ApiServerException failure = failureOf(probe);
        if (failure != null) {
            found.add(ConnectionFailure.of(failure));
            return;
        }
        ConnectionFacts facts = probe.join();
        String url = config.getMasterUrl().replaceAll("/+$", "");
        found.addAll(new ConnectionDiagnoses(url, access == StrategyAccess.WATCH, objects.size()).of(facts));
        AccessReviews own = server.accessReviews(TIMEOUT);
        CompletableFuture<Optional<String>> user = own.ownUser();
        wait.accept(user);
        judge(user, facts.answer(), own, wait);
    }

    private static @Nullable CredentialsException unreadable(CompletableFuture<?> read) {
        try {
            read.join();
            return null;
        } catch (CompletionException e) {
            // anything else may pass, and the probe shows it
            return Throwables.getRootCause(e) instanceof CredentialsException refused ? refused : null;
        }
    }

    private void judge(
            CompletableFuture<Optional<String>> asked,
            ConnectionFacts.VersionAnswer answer,
            AccessReviews own,
            Consumer<CompletableFuture<?>> wait) {
        ApiServerException refused = failureOf(asked);
        boolean unauthorized = refused != null && refused.reason() == FailureReason.UNAUTHORIZED;
        Optional<ClientCredentials> known = ClientCredentials.of(config);
        String user = (refused == null ? asked.join() : Optional.<String>empty())
                // a Role for a name that the server does not know as this user would be for somebody else
                .or(() -> known.map(credentials -> credentials.userAtServer(config)))
                .orElse("");
        int status = unauthorized ? 401 : answer.status();
        found.addAll(
                CredentialDiagnoses.of(known, user, status, server.timekeeper().wallTime()));
        if (status != 401 && !(objects.isEmpty() && tokenAccounts.isEmpty())) {
            reviewAccess(user, own, wait);
        }
        if (status != 401) {
            node.ifPresent(name -> inspect(name, wait));
        }
    }

    private void inspect(String name, Consumer<CompletableFuture<?>> wait) {
        NodeDiagnoses diagnoses = new NodeDiagnoses(name);
        CompletableFuture<Node> registered =
                server.api(ObjectKind.NODE, TIMEOUT).get(ObjectKey.of("", name));
        CompletableFuture<Lease> lease =
                server.api(ObjectKind.LEASE, TIMEOUT).get(ObjectKey.of("kube-node-lease", name));
        CompletableFuture<Listed<CertificateSigningRequest>> requests =
                server.inNamespace(REQUEST).apply("", every -> true).list(TIMEOUT);
        CompletableFuture<?> endpoint = server.raw("/api/v1/nodes/" + name + "/proxy/healthz", TIMEOUT);
        wait.accept(CompletableFuture.allOf(registered, lease, requests, endpoint));
        Instant now = server.timekeeper().wallTime();
        found.add(orUnknown("node", registered, diagnoses::registration));
        found.add(orUnknown("lease", lease, each -> diagnoses.lease(each, now)));
        ApiServerException unlisted = failureOf(requests);
        if (unlisted == null) {
            found.addAll(diagnoses.certificates(
                    requests.join().items().stream().map(Fetched::object).toList()));
        } else {
            found.add(NodeDiagnoses.unknown("certificate", unlisted));
        }
        found.add(diagnoses.endpoint(failureOf(endpoint)));
    }

    private static <T> Diagnosis orUnknown(
            String check, CompletableFuture<T> asked, Function<@Nullable T, Diagnosis> meaning) {
        ApiServerException failure = failureOf(asked);
        if (failure == null) {
            return meaning.apply(asked.join());
        }
        return failure.reason() == FailureReason.NOT_FOUND
                ? meaning.apply(null)
                : NodeDiagnoses.unknown(check, failure);
    }

    private void reviewAccess(String user, AccessReviews own, Consumer<CompletableFuture<?>> wait) {
        SetMultimap<ObjectId, String> allowed = HashMultimap.create();
        for (List<ObjectId> batch : Lists.partition(ImmutableList.copyOf(objects), BATCH / 2)) {
            List<VerbReview> reviews = reviews(batch, own);
            CompletableFuture<?> all = CompletableFuture.allOf(
                    reviews.stream().map(VerbReview::allowed).toArray(CompletableFuture<?>[]::new));
            reviewed += batch.size();
            wait.accept(all);
            for (VerbReview review : reviews) {
                ApiServerException failure = failureOf(review.allowed());
                if (failure != null) {
                    found.add(unanswered(failure));
                    return;
                }
                if (review.allowed().join()) {
                    allowed.put(review.object(), review.verb());
                }
            }
        }
        Set<ObjectKey> refusedTokens = new LinkedHashSet<>();
        for (ObjectKey account : tokenAccounts) {
            CompletableFuture<Boolean> review = own.mayRequestToken(account);
            wait.accept(review);
            ApiServerException failure = failureOf(review);
            if (failure != null) {
                found.add(unanswered(failure));
                return;
            }
            if (!review.join()) {
                refusedTokens.add(account);
            }
        }
        AccessDiagnoses diagnoses =
                new AccessDiagnoses(access, objects, allowed, user, node.isPresent(), refusedTokens);
        found.addAll(diagnoses.diagnoses());
        roles = diagnoses.roles();
    }

    private List<VerbReview> reviews(List<ObjectId> batch, AccessReviews own) {
        return batch.stream()
                .flatMap(object -> reviews(object, AccessDiagnoses.needed(access, object, node.isPresent()), own))
                .toList();
    }

    private static Stream<VerbReview> reviews(ObjectId object, StrategyAccess needed, AccessReviews own) {
        return needed.verbs().stream()
                .flatMap(verb -> Stream.concat(Stream.of(verb), needed.replacementOf(verb).stream()))
                .map(verb -> new VerbReview(object, verb, own.mayAccess(object.kind(), object.key(), verb)));
    }

    private static Diagnosis unanswered(ApiServerException failure) {
        return Diagnosis.problem(
                "access",
                Quoted.text(String.valueOf(failure.getMessage())),
                "it is unknown which objects may be cached",
                "let these credentials create selfsubjectaccessreviews, as the ClusterRole system:basic-user does, and try"
                        + " again");
    }

    private static @Nullable ApiServerException failureOf(CompletableFuture<?> ended) {
        try {
            ended.join();
            return null;
        } catch (CompletionException e) {
            if (e.getCause() instanceof ApiServerException failure) {
                return failure;
            }
            throw e;
        }
    }
}
