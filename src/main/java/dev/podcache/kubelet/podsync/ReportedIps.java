package dev.podcache.kubelet.podsync;

import com.google.common.net.InetAddresses;
import dev.podcache.object.Quoted;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks the addresses that the runtime reports for one pod. The API server refuses the whole status if one of them is
 * not an IP address. Not thread-safe.
 */
final class ReportedIps {

    private static final Logger log = LoggerFactory.getLogger(ReportedIps.class);

    private List<String> refused = List.of();

    /** Returns the IP addresses in {@code reported}. Logs the other texts when they change. */
    List<String> valid(Pod pod, List<String> reported) {
        List<String> others = reported.stream().filter(text -> !isIp(text)).toList();
        if (!others.equals(refused) && !others.isEmpty()) {
            log.warn(
                    "the runtime reports {} as IP of pod {}, which is left out of its status: PodRuntime.status must return"
                            + " IP addresses, such as 10.0.0.7",
                    others.stream().map(Quoted::value).collect(Collectors.joining(", ")),
                    KnownPods.name(pod));
        }
        refused = others;
        return reported.stream().filter(ReportedIps::isIp).toList();
    }

    /** An address with a zone, such as {@code fe80::1%eth0}, has a meaning only on its machine. */
    private static boolean isIp(String text) {
        return InetAddresses.isInetAddress(text) && text.indexOf('%') < 0;
    }
}
