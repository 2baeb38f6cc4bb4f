#pragma once

#include <optional>

namespace jitgemm {

/// The rank of this process among those that a launcher of parallel programs started.
struct LaunchRank {
    int rank = 0;
    int size = 1;
    int local_rank = 0;  ///< among those on this host
};

/// Reads the variables that mpirun (Open MPI; MPICH and Intel MPI through PMI) or srun sets; nothing without them. A
/// batch script of Slurm that srun did not start has no rank, though it sees SLURM_PROCID.
[[nodiscard]] std::optional<LaunchRank> launch_rank_from_environment();

}  // namespace jitgemm
