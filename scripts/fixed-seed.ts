/** Gives every property test the same random cases in every run; `FC_SEED=<number>` tries others. */
import fc from 'fast-check';

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env.FC_SEED ?? 20_260_101) });
