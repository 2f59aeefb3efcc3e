package dev.podcache.kubelet.agent;

import com.google.common.util.concurrent.Uninterruptibles;
import dev.podcache.kubelet.runtime.ContainerStatistics;
import dev.podcache.kubelet.runtime.ForwardingRuntime;
import dev.podcache.kubelet.runtime.HollowRuntime;
import dev.podcache.kubelet.runtime.Launch;
import dev.podcache.kubelet.runtime.RuntimeEvents;
import dev.podcache.kubelet.runtime.RuntimeStatus;
import dev.podcache.kubelet.runtime.VolumeFile;
import dev.podcache.object.PodKey;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A hollow runtime whose health a test sets, whose calls a test makes hang, and which keeps what was mounted last. It
 * measures no container.
 */
final class NotifyingRuntime extends ForwardingRuntime implements ContainerStatistics {

    private final Timekeeper timekeeper;

    private final Map<String, CountDownLatch> hanging = new ConcurrentHashMap<>();
    private final Map<CountDownLatch, AtomicInteger> hung = new ConcurrentHashMap<>();
    private final Map<String, Map<String, Map<String, VolumeFile>>> mounted = new ConcurrentHashMap<>();
    volatile RuntimeStatus status = RuntimeStatus.ready("1");
    volatile boolean failsToStart;
    private volatile @Nullable RuntimeEvents events;
    private volatile @Nullable Long hangsSince;

    NotifyingRuntime(Timekeeper timekeeper) {
        super(new HollowRuntime(timekeeper));
        this.timekeeper = timekeeper;
    }

    /**
     * Makes calls hang, even if they are interrupted, until {@link #release}.
     *
     * @param call {@code health}, {@code pods}, {@code usage}, or {@code start} and the name of a pod
     */
    void hang(String call) {
        hanging.put(call, new CountDownLatch(1));
    }

    void release() {
        hanging.values().forEach(CountDownLatch::countDown);
    }

    private void called(String call) {
        CountDownLatch released = hanging.get(call);
        if (released != null && released.getCount() > 0) {
            if (hangsSince == null) {
                hangsSince = timekeeper.nanoTime();
            }
            hung.computeIfAbsent(released, unknown -> new AtomicInteger()).incrementAndGet();
            Uninterruptibles.awaitUninterruptibly(released);
        }
    }

    /** Returns how many calls hang now. One that was released does not, although its thread may still have to wake. */
    int hungCalls() {
        return hung.entrySet().stream()
                .filter(each -> each.getKey().getCount() > 0)
                .mapToInt(each -> each.getValue().get())
                .sum();
    }

    /** Returns the time since a call first hung; zero if none has. */
    Duration hangsFor() {
        Long since = hangsSince;
        return Duration.ofNanos(since == null ? 0 : timekeeper.nanoTime() - since);
    }

    /** Returns whether the last mount of the pod gave a file this content. */
    boolean isMounted(String pod, String volume, String file, String content) {
        VolumeFile last = mounted.getOrDefault(pod, Map.of())
                .getOrDefault(volume, Map.of())
                .get(file);
        return last != null && last.holds(content.getBytes(StandardCharsets.UTF_8));
    }

    RuntimeEvents events() {
        if (events == null) {
            throw new AssertionError("the runtime was not started");
        }
        return events;
    }

    @Override
    public void listen(RuntimeEvents toNotify) {
        if (failsToStart) {
            throw new IllegalStateException("for the test");
        }
        events = toNotify;
        hollow.listen(toNotify);
    }

    @Override
    public RuntimeStatus health() {
        called("health");
        return status;
    }

    @Override
    public List<PodKey> pods() {
        called("pods");
        return hollow.pods();
    }

    @Override
    public List<PodUsage> usage() {
        called("usage");
        return List.of();
    }

    @Override
    public void mount(Pod pod, Map<String, Map<String, VolumeFile>> volumes) {
        mounted.put(pod.getMetadata().getName(), volumes);
    }

    @Override
    public void startContainer(Pod pod, Container container, Launch launch) {
        called("start " + pod.getMetadata().getName());
        hollow.startContainer(pod, container, launch);
    }
}
