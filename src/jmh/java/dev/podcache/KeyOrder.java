package dev.podcache;

import java.util.Arrays;
import java.util.SplittableRandom;

/** Which of a number of keys are asked for, and how often. */
public enum KeyOrder {
    /** Each as often as any other. */
    UNIFORM {
        @Override
        double weight(int rank) {
            return 1;
        }
    },
    /** The second half as often as the first, the third a third as often, and so on. */
    ZIPF {
        @Override
        double weight(int rank) {
            return 1.0 / (rank + 1);
        }
    };

    abstract double weight(int rank);

    /** That many draws of numbers below {@code keys}. */
    int[] draw(int draws, int keys, SplittableRandom random) {
        double[] upTo = new double[keys];
        double sum = 0;
        for (int rank = 0; rank < keys; rank++) {
            sum += weight(rank);
            upTo[rank] = sum;
        }
        int[] drawn = new int[draws];
        for (int i = 0; i < draws; i++) {
            int found = Arrays.binarySearch(upTo, random.nextDouble() * sum);
            drawn[i] = Math.min(keys - 1, found < 0 ? -found - 1 : found);
        }
        return drawn;
    }
}
