package dev.podcache.controlplane.planner;

import dev.podcache.object.Numbers;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;

/** Collects the figures of a plan. Each one has to be put before it is read. Not thread-safe. */
final class Figures {

    private final Map<PlanFigure, Figure> figures = new EnumMap<>(PlanFigure.class);

    /**
     * A value and how it was computed.
     *
     * @param arithmetic reads as what follows "= "
     */
    record Figure(double value, String arithmetic) {}

    /**
     * Adds a figure.
     *
     * @param arithmetic a format whose arguments are all strings
     * @param arguments numbers and durations, which are written for people
     */
    void put(PlanFigure figure, double value, String arithmetic, Object... arguments) {
        Object[] texts = new Object[arguments.length];
        for (int i = 0; i < texts.length; i++) {
            texts[i] = text(arguments[i]);
        }
        figures.put(figure, new Figure(value, String.format(Locale.ROOT, arithmetic, texts)));
    }

    double value(PlanFigure figure) {
        return get(figure).value;
    }

    Figure get(PlanFigure figure) {
        Figure found = figures.get(figure);
        if (found == null) {
            throw new IllegalStateException(figure + " was not computed yet");
        }
        return found;
    }

    static double seconds(Duration duration) {
        return duration.toNanos() / 1e9;
    }

    private static String text(Object argument) {
        if (argument instanceof Duration duration) {
            return Numbers.text(seconds(duration)) + " s";
        }
        return argument instanceof Number number ? Numbers.text(number.doubleValue()) : argument.toString();
    }
}
