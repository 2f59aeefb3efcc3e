package dev.podcache.documentation;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jdi.AbsentInformationException;
import com.sun.jdi.Bootstrap;
import com.sun.jdi.Location;
import com.sun.jdi.Method;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.connect.Connector;
import com.sun.jdi.connect.IllegalConnectorArgumentsException;
import com.sun.jdi.connect.LaunchingConnector;
import com.sun.jdi.connect.VMStartException;
import com.sun.jdi.event.BreakpointEvent;
import com.sun.jdi.event.ClassPrepareEvent;
import com.sun.jdi.event.Event;
import com.sun.jdi.event.EventSet;
import com.sun.jdi.event.MethodEntryEvent;
import com.sun.jdi.event.VMDisconnectEvent;
import com.sun.jdi.request.ClassPrepareRequest;
import com.sun.jdi.request.EventRequest;
import com.sun.jdi.request.EventRequestManager;
import com.sun.jdi.request.MethodEntryRequest;
import dev.podcache.testing.Slow;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The files that the root {@code package-info} lists for each way are those that a trace of its calls passes. */
@Slow
class WaysTest {

    private static final String ARRIVED = "arrived";

    private static final int MOST_TRACES = 3;

    /** A way, the method of {@link WaysProgram} that begins it, and of how many files it may be. */
    private enum Way {
        POD_TO_SOCKET("pod to socket", "fromPodToSocket", 36),
        EVENT_TO_ENTRY("event to entry", "fromEventToEntry", 19),
        HIT_UNDER_WATCH("hit under WATCH", "hitUnderWatch", 6),
        HIT_UNDER_CACHE("hit under CACHE", "hitUnderCache", 6),
        MISS_UNDER_CACHE("miss under CACHE", "missUnderCache", 30),
        PATCH_OF_A_STATUS("PATCH of a status", "patchOfAStatus", 24);

        final String title;
        final String marker;
        final int most;

        Way(String title, String marker, int most) {
            this.title = title;
            this.marker = marker;
            this.most = most;
        }
    }

    /** Packages that are not traced: the server, and what every way passes and nobody has to read to follow it. */
    private static final Set<String> LEFT_OUT =
            Set.of("embedded", "object", "time", "metrics", "documentation", "testing");

    private static List<MethodCall> calls = List.of();

    /** A method that was entered, as {@code package/File} and {@code Class.method}. */
    private record MethodCall(String file, String method) {

        /** What is made on the way is passed only if it does something there. */
        boolean isConstruction() {
            return method.endsWith(".<init>") || method.endsWith(".<clinit>");
        }

        boolean isIn(String simpleFile) {
            return file.endsWith("/" + simpleFile);
        }
    }

    /** Something periodic may fall into a way, such as the credentials' being read again: then it is gone again. */
    @BeforeAll
    static void trace() throws IOException, IllegalConnectorArgumentsException, VMStartException, InterruptedException {
        boolean asListed = false;
        for (int i = 0; i < MOST_TRACES && !asListed; i++) {
            calls = traced();
            asListed = true;
            for (Way way : Way.values()) {
                asListed &= passed(way).equals(listed(way));
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void way_passesTheFilesThatAreListed(Way way) throws IOException {
        assertThat(listed(way)).containsExactlyInAnyOrderElementsOf(passed(way)).hasSizeLessThanOrEqualTo(way.most);
    }

    private static Set<String> passed(Way marked) {
        int from = first(0, "WaysProgram." + marked.marker);
        int to = first(from, "WaysProgram.arrived");
        List<MethodCall> way = calls.subList(from + 1, to);
        int begin = 0;
        int end = way.size();
        if (marked == Way.EVENT_TO_ENTRY) {
            begin = indexOf(way, call -> call.isIn("VertxHttp2Call"));
            end = begin + indexOf(way.subList(begin, end), call -> call.method.equals("Entry.setAnswerLocked")) + 1;
        } else if (marked == Way.POD_TO_SOCKET || marked == Way.PATCH_OF_A_STATUS) {
            end = indexOf(way, call -> call.method.equals("VertxWire.send")) + 1;
        }
        Set<String> files = new LinkedHashSet<>();
        for (MethodCall call : way.subList(begin, end)) {
            if (!call.isConstruction() && !isValue(call.file)) {
                files.add(call.file);
            }
        }
        return files;
    }

    /** Whether a file holds a record, an enum or an interface: what travels, not where it passes. */
    private static boolean isValue(String file) {
        try {
            Class<?> type = Class.forName("dev.podcache." + file.replace('/', '.'));
            return type.isRecord() || type.isEnum() || type.isInterface();
        } catch (ClassNotFoundException e) {
            throw new AssertionError(file, e);
        }
    }

    private static int first(int from, String method) {
        return from + indexOf(calls.subList(from, calls.size()), call -> call.method.equals(method));
    }

    private static int indexOf(List<MethodCall> among, Predicate<MethodCall> wanted) {
        for (int i = 0; i < among.size(); i++) {
            if (wanted.test(among.get(i))) {
                return i;
            }
        }
        throw new AssertionError("not called");
    }

    /** Returns the files in the list item with that title. */
    private static Set<String> listed(Way way) throws IOException {
        String text = Files.readString(Path.of("src/main/java/dev/podcache/package-info.java"))
                .replaceAll("\\n \\* ?", " ");
        Matcher item = Pattern.compile("<dt>" + way.title + "[^<]*<dd>([^<]*)").matcher(text);
        assertThat(item.find()).as(way.title + " is listed").isTrue();
        return Set.of(item.group(1).trim().split("[,\\s]+"));
    }

    private static List<MethodCall> traced()
            throws IOException, IllegalConnectorArgumentsException, VMStartException, InterruptedException {
        LaunchingConnector connector = Bootstrap.virtualMachineManager().defaultConnector();
        Map<String, Connector.Argument> arguments = connector.defaultArguments();
        Objects.requireNonNull(arguments.get("main")).setValue(WaysProgram.class.getName());
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        Objects.requireNonNull(arguments.get("options"))
                .setValue("-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp \"" + classPath + "\"");
        VirtualMachine machine = connector.launch(arguments);
        EventRequestManager requests = machine.eventRequestManager();
        ClassPrepareRequest loaded = requests.createClassPrepareRequest();
        loaded.addClassFilter(WaysProgram.class.getName());
        loaded.enable();
        MethodEntryRequest entries = requests.createMethodEntryRequest();
        entries.addClassFilter("dev.podcache.*");
        LEFT_OUT.forEach(name -> entries.addClassExclusionFilter("dev.podcache." + name + ".*"));
        entries.setSuspendPolicy(EventRequest.SUSPEND_NONE);
        List<MethodCall> traced = new ArrayList<>();
        while (true) {
            EventSet events = machine.eventQueue().remove();
            for (Event event : events) {
                if (event instanceof ClassPrepareEvent program) {
                    program.referenceType().methods().stream()
                            .filter(WaysTest::isMarker)
                            .forEach(method -> requests.createBreakpointRequest(method.location())
                                    .enable());
                } else if (event instanceof BreakpointEvent marker) {
                    traced.add(call(marker.location()));
                    // a program whose calls are traced is slow
                    entries.setEnabled(!marker.location().method().name().equals(ARRIVED));
                } else if (event instanceof MethodEntryEvent entry && hasSource(entry.location())) {
                    traced.add(call(entry.location()));
                } else if (event instanceof VMDisconnectEvent) {
                    Process program = machine.process();
                    String complaints = new String(program.getErrorStream().readAllBytes(), UTF_8);
                    assertThat(program.waitFor()).as(complaints).isZero();
                    return traced;
                }
            }
            events.resume();
        }
    }

    private static boolean isMarker(Method method) {
        return method.name().equals(ARRIVED)
                || Arrays.stream(Way.values()).anyMatch(way -> way.marker.equals(method.name()));
    }

    /** The classes of lambdas are made at run time. */
    private static boolean hasSource(Location location) {
        return !location.declaringType().name().contains("$$Lambda");
    }

    private static MethodCall call(Location location) {
        try {
            String path = location.sourcePath();
            String file = path.substring("dev/podcache/".length(), path.length() - ".java".length());
            String simple = file.substring(file.lastIndexOf('/') + 1);
            return new MethodCall(file, simple + "." + location.method().name());
        } catch (AbsentInformationException e) {
            throw new AssertionError(location + " has no source", e);
        }
    }
}
