// clang-format off
    const int warp = threadIdx.x / 32 % 4;
    const int lane = threadIdx.x % 32;
    const int warpgroup_row = warpgroup / kConsumersN * kWarpgroupM;  // of the warpgroup tile in the block tile
    const int warpgroup_column = warpgroup % kConsumersN * kWarpgroupN;
    const PlaceA a = place_a(shared, warpgroup_row);
    GEMM_DESCRIPTOR_OF_B();
