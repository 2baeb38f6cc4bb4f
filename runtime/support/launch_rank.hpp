#pragma once

#include <optional>

namespace jitgemm {

/// Which of how many processes this is, where a launcher of parallel programs started it.
struct LaunchRank {
    int rank = 0;
    int size = 1;
    int local_rank = 0;  ///< among those on this host
};

/// Read from what mpirun (Open MPI; MPICH and Intel MPI through PMI) or srun put into the environment; nothing outside
/// of them. A batch script of Slurm that was not started by srun is no rank, though it sees SLURM_PROCID.
[[nodiscard]] std::optional<LaunchRank> launch_rank_from_environment();

}  // namespace jitgemm
