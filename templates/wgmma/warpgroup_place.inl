// clang-format off
    const int warp = threadIdx.x / 32 % 4;
    const int lane = threadIdx.x % 32;
    const int warpgroup_row = warpgroup / kConsumersN * kWarpgroupM;  // of the warpgroup tile in the block tile
    const int warpgroup_column = warpgroup % kConsumersN * kWarpgroupN;
    const PlaceA a = place_a(shared, warpgroup_row);
#if GEMM_PAIRS && !GEMM_SWAP_AB
    const unsigned long long b =
        OperandB::kDescriptor | (descriptor_address(shared.stage_b(0)) + OperandB::offset(2 * warpgroup_column, 0));
#else
    const unsigned long long b =
        OperandB::kDescriptor | (descriptor_address(shared.stage_b(0)) + OperandB::offset(warpgroup_column, 0));
#endif
