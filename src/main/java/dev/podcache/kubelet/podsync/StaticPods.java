package dev.podcache.kubelet.podsync;

import dev.podcache.kubelet.staticpods.MirrorPods;
import dev.podcache.object.ObjectKey;
import dev.podcache.time.SerialRun;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Passes the static pods of a node on to its workers, and to {@link MirrorPods}. A pod whose file has changed is stopped
 * before its successor of the same name starts. The mirror pod stays until the pod has stopped. Thread-safe; {@link #set}
 * must be called by one thread at a time.
 */
public final class StaticPods {

    private static final Logger log = LoggerFactory.getLogger(StaticPods.class);

    /*
     * For each name there is the pod that is wanted and the pod that the workers have. The difference is computed under the
     * lock, as steps, which one thread at a time runs outside of it, in order. Calls that come meanwhile, some of them from
     * the steps themselves, only change the state, and the running thread computes the next steps: see SerialRun.
     */

    private final PodWorkers workers;
    private final MirrorPods mirrors;
    private final SerialRun reconciliation = SerialRun.onCaller(this::reconcile);

    private Map<ObjectKey, Pod> wanted = Map.of(); // guarded by this
    private final Map<ObjectKey, Active> active = new HashMap<>(); // guarded by this
    private final Set<ObjectKey> ended = new HashSet<>(); // guarded by this

    /** A pod that the workers have. */
    private static final class Active {
        Pod pod;
        boolean stopping;

        Active(Pod pod) {
            this.pod = pod;
        }
    }

    /**
     * What to do outside of the lock.
     *
     * @param failure what has not happened if it throws, for the log
     */
    private record StaticPodStep(String failure, Runnable action) {}

    /**
     * Creates an instance without pods. Until the first {@link #set}, the workers do not stop pods that only the runtime
     * knows, because they may be static pods.
     */
    public StaticPods(PodWorkers workers, MirrorPods mirrors) {
        this.workers = workers;
        this.mirrors = mirrors;
        workers.setStaticPods(this);
    }

    /**
     * Sets the static pods, with unique names and UIDs. Pods that were set before and are not among them are stopped.
     *
     * <p>For a new name, this lists the runtime's pods first. That may block. If it throws, the set is unchanged.
     */
    public void set(List<Pod> pods) {
        Map<ObjectKey, Pod> byName = new LinkedHashMap<>();
        pods.forEach(pod -> byName.put(KnownPods.name(pod), pod));
        boolean hasNewNames;
        synchronized (this) {
            hasNewNames = !active.keySet().containsAll(byName.keySet());
        }
        if (hasNewNames) {
            endPredecessors(byName);
        }
        synchronized (this) {
            wanted = byName;
        }
        reconciliation.request();
        workers.filesRead();
        mirrors.staticPodsAreKnown();
    }

    /**
     * Stops pods of the same names that an agent before this one started. Does not leave this to the list of the API
     * server's pods, which may come later.
     */
    private void endPredecessors(Map<ObjectKey, Pod> successors) {
        for (Pod orphan : workers.orphans()) {
            Pod successor = successors.get(KnownPods.name(orphan));
            if (successor != null && !uid(successor).equals(uid(orphan))) {
                workers.endOrphan(orphan);
            }
        }
    }

    /** Called before a pod that only the runtime knows is stopped. No static pod of its name starts until it has ended. */
    synchronized void ending(Pod orphan) {
        Active stopping = new Active(orphan);
        stopping.stopping = true;
        active.putIfAbsent(KnownPods.name(orphan), stopping);
    }

    /** Syncs all static pods, because something has changed that they do not show. */
    public void syncAll() {
        List<Pod> pods = new ArrayList<>();
        synchronized (this) {
            active.values().forEach(each -> pods.add(each.pod));
        }
        pods.forEach(pod -> workers.changed(uid(pod)));
    }

    /** Called when a pod was stopped and cleaned up. */
    void finished(String uid) {
        synchronized (this) {
            active.values().removeIf(each -> {
                boolean isEnded = each.stopping && uid(each.pod).equals(uid);
                return isEnded && ended.add(KnownPods.name(each.pod));
            });
        }
        reconciliation.request();
    }

    private void reconcile() {
        dueSteps().forEach(StaticPods::run);
    }

    private static void run(StaticPodStep step) {
        try {
            step.action.run();
        } catch (RuntimeException | Error e) {
            logFailure(step, e);
        }
    }

    /** Never throws: the other steps would be lost. */
    private static void logFailure(StaticPodStep step, Throwable failure) {
        try {
            log.error("{}; this is a bug in Podcache", step.failure, failure);
        } catch (Throwable notLogged) {
            // no memory, or a log that fails
        }
    }

    private synchronized List<StaticPodStep> dueSteps() {
        List<StaticPodStep> steps = new ArrayList<>();
        Set<ObjectKey> names = new HashSet<>(wanted.keySet());
        names.addAll(active.keySet());
        names.forEach(name -> addStepLocked(name, steps));
        for (ObjectKey name : ended) {
            if (!active.containsKey(name)) {
                steps.add(new StaticPodStep("mirror pod " + name + " was not removed", () -> mirrors.remove(name)));
            }
        }
        ended.clear();
        return steps;
    }

    private void addStepLocked(ObjectKey name, List<StaticPodStep> steps) {
        Pod pod = wanted.get(name);
        Active now = active.get(name);
        if (now == null) {
            if (pod != null) {
                active.put(name, new Active(pod));
                addStart(pod, steps);
            }
        } else if (pod != null && uid(pod).equals(uid(now.pod))) {
            if (now.stopping || !pod.equals(now.pod)) {
                now.stopping = false;
                now.pod = pod;
                addStart(pod, steps);
            }
        } else if (!now.stopping) {
            now.stopping = true;
            Pod last = now.pod;
            steps.add(new StaticPodStep("static pod " + name + " was not stopped", () -> workers.remove(last)));
        }
    }

    private void addStart(Pod pod, List<StaticPodStep> steps) {
        steps.add(new StaticPodStep("static pod " + KnownPods.name(pod) + " was not started", () -> workers.put(pod)));
        steps.add(new StaticPodStep("mirror pod " + KnownPods.name(pod) + " was not added", () -> mirrors.add(pod)));
    }

    private static String uid(Pod pod) {
        return pod.getMetadata().getUid();
    }
}
