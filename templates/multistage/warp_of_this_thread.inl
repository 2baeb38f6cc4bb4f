// clang-format off
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const int warp_row = warp / kWarpsN * kWarpM;  // of the warp tile in the block tile
    const int warp_column = warp % kWarpsN * kWarpN;

    const unsigned sA = shared_address(shared_memory);  // (kStages, A tile), see shared_layout
    const unsigned sB = sA + kStages * kStageBytesA;  // (kStages, B tile)
