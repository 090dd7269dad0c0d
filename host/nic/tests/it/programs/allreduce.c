/* Sums a vector over all ranks for a number of seconds. Prints the volume per second, and exits with 1 if a sum is wrong. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define N 65536
static double in[N], out[N];
int main(int argc, char **argv) {
  int rank, size, wrong = 0, go = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double start = MPI_Wtime(), last = start, until = start + atof(argv[1]);
  long rounds = 0, all = 0;
  while (go) {
    for (int i = 0; i < N; i++) in[i] = (double)(all % 1000 + i + rank);
    MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) {
      double expected = (double)size * (all % 1000 + i) + size * (size - 1) / 2.0;
      wrong += out[i] != expected;
    }
    rounds++; all++;
    double now = MPI_Wtime();
    if (rank == 0 && now - last >= 1.0) {
      printf("%.1f s: %.1f Mb/s\n", now - start, rounds * sizeof in * 8 / (now - last) / 1e6);
      fflush(stdout);
      rounds = 0; last = now;
    }
    go = now < until;
    MPI_Bcast(&go, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  printf("rank %d: %ld rounds, %d wrong\n", rank, all, wrong);
  MPI_Finalize();
  return wrong != 0;
}
