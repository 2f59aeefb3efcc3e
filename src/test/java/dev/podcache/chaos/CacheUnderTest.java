package dev.podcache.chaos;

import dev.podcache.Podcache;
import dev.podcache.chaos.Claims.Claim;
import dev.podcache.manager.Manager;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.store.ObjectState;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;

/** A cache of the run, by the public front door, with all that belongs to it. Thread-safe. */
final class CacheUnderTest implements AutoCloseable {

    final Rules rules;
    final Claims claims = new Claims();
    final Podcache podcache;
    private final World world;
    private final Told told;
    private final KubernetesClient client;

    CacheUnderTest(World world, Rules rules, ChaosServer server) {
        this.world = world;
        this.rules = rules;
        Refreshes refreshes = new Refreshes(world, claims);
        told = new Told(world, rules.strategy(), refreshes);
        client = server.client(refreshes);
        podcache = Podcache.builder(client)
                .node(ChaosServer.NODE)
                .strategy(rules.strategy())
                .idleAfter(Duration.ofMinutes(1))
                .defaultTtl(Rules.TTL)
                .metrics(told)
                .build();
    }

    /** Reads the object, and looks at what is known before and after. */
    Read read(Subject subject) {
        Claim claim = claims.of(subject);
        boolean seen = claim.epoch().isSeen();
        ObjectState state = state(subject);
        Read.Moment before = new Read.Moment(world.time.now(), claim, seen, state);
        Outcome outcome = outcome(subject);
        long ended = world.time.now();
        if (claim.isHeld() && isAnswer(outcome)) {
            claim.epoch().see();
        }
        ObjectState stateAfter = state(subject);
        Read.Moment after = new Read.Moment(ended, claims.of(subject), true, stateAfter);
        long stalled = world.stalls.between(before.time(), ended);
        return new Read(subject, before, outcome, after, stalled, told.watchedSince(subject));
    }

    private Outcome outcome(Subject subject) {
        try {
            HasMetadata object = manager(subject).getObject(world.namespace, subject.name());
            return new Outcome.Found(
                    Payloads.marker(object),
                    object.getMetadata().getUid(),
                    object.getMetadata().getResourceVersion());
        } catch (RuntimeException e) {
            return new Outcome.Failed(e);
        }
    }

    /** Whether the server has spoken: with an object, or that there is none. */
    static boolean isAnswer(Outcome outcome) {
        return outcome instanceof Outcome.Found
                || (outcome instanceof Outcome.Failed failed && failed.thrown() instanceof NotFound);
    }

    ObjectState state(Subject subject) {
        return manager(subject).state(world.namespace, subject.name());
    }

    private Manager<? extends HasMetadata> manager(Subject subject) {
        return subject.kind() == Subject.Kind.SECRET ? podcache.secrets() : podcache.configMaps();
    }

    @Override
    public void close() {
        podcache.close();
        client.close();
    }

    @Override
    public String toString() {
        return rules.strategy().toString();
    }
}
