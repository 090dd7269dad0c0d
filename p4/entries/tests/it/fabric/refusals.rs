//! Intents that the pipeline cannot express are rejected with names and numbers.

use closc_entries::Pipeline;
use closc_plan::{DeviceIntent, Hop, Plan, Target};

use crate::fabric::{plan, shape};

fn first(plan: &Plan) -> DeviceIntent<'_> {
    plan.device(plan.switches().next().expect("one switch"))
}

fn refusal(intent: &DeviceIntent<'_>) -> String {
    Pipeline::fabric().entities(intent).expect_err("the pipeline cannot do it").to_string()
}

#[test]
fn a_port_beyond_nine_bits() {
    let plan = plan(&shape(1, 2, 1, 2));
    let mut intent = first(&plan);
    intent.ports[0].physical.device = 510;
    assert_eq!(
        refusal(&intent),
        "`p0-t0-001`: port `eth1` has the number 510; pipeline `fabric` supports 1 to 509"
    );
    intent.ports[0].connection = None;
    assert!(Pipeline::fabric().entities(&intent).is_ok(), "a port without a cable needs no number");
}

#[test]
fn a_group_larger_than_the_selector() {
    let plan = plan(&shape(1, 2, 1, 2));
    let mut intent = first(&plan);
    intent.routes[0].target = Target::Ports(vec![Hop { port: 0, weight: 1 }, Hop { port: 1, weight: 600 }]);
    let refusal = refusal(&intent);
    assert!(refusal.ends_with("add up to 601; a group of `ingress.wcmp_selector` holds 512"), "{refusal}");
}

#[test]
fn more_routes_than_the_table_holds() {
    let plan = plan(&shape(1, 2, 1, 2));
    let mut intent = first(&plan);
    let size = Pipeline::fabric().info().table("ingress.ipv6_route").expect("a table").size;
    let mut route = intent.routes[0].clone();
    for place in 0..=size {
        let network = u128::from(place) << 64 | 0xfd << 120;
        route.prefix = ipnet::Ipv6Net::new_assert(network.into(), 64).into();
        intent.routes.push(route.clone());
    }
    let needed = intent.routes.len();
    assert_eq!(
        refusal(&intent),
        format!("`p0-t0-001`: {needed} entries for `ingress.ipv6_route`, which holds {size}")
    );
}
