//! Reading entities back.

use std::ops::ControlFlow;
use std::time::Duration;

use prost::Message as _;
use tokio::time::timeout;
use tonic::Request;

use super::connect::{Client, ready};
use super::error::{ClientError, Rpc};
use crate::election::RoleName;
use crate::entry::everything;
use crate::info::Info;
use crate::proto::v1;
use crate::wire::{Elements, RawCodec};

/// Entities, and bytes of them, that are decoded before other work has its turn.
const AT_ONCE: usize = 256;
const BYTES_AT_ONCE: usize = 64 << 10;

/// The field `entities` of `ReadResponse`.
const ENTITIES: u32 = 1;

/// State of a target.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct State {
    /// The entities, in the order in which they were asked for and came.
    pub entities: Vec<v1::Entity>,
    /// Requests that the target does not implement, so that nothing is known about what they ask for.
    pub unsupported: Vec<v1::Entity>,
}

impl Client {
    /// Reads what matches any of the entities, and hands on each entity as it is decoded, until there are no more or
    /// one is not wanted. Together they may take `budget` bytes of memory, which is what is left of it afterwards.
    pub async fn read_each(
        &self,
        entities: Vec<v1::Entity>,
        role: &RoleName,
        budget: &mut usize,
        mut each: impl FnMut(v1::Entity) -> ControlFlow<()>,
    ) -> Result<(), ClientError> {
        let deadline: Duration = self.target.options.deadlines.read;
        let request =
            v1::ReadRequest { device_id: self.target.device.0, role: role.name().to_owned(), entities };
        let mut grpc = self.grpc();
        let late = || ClientError::Deadline {
            endpoint: self.endpoint().to_owned(),
            rpc: Rpc::Read,
            after: deadline,
        };
        let failed = |status| ClientError::from_status(self.endpoint(), Rpc::Read, &status);
        let call = async {
            ready(&mut grpc).await?;
            let request = Request::new(request.encode_to_vec().into());
            grpc.server_streaming(request, Rpc::Read.path(), RawCodec).await
        };
        let response = timeout(deadline, call).await.map_err(|_| late())?;
        let mut answers = response.map_err(failed)?.into_inner();
        let mut n_entities = 0_usize;
        while let Some(answer) =
            timeout(deadline, answers.message()).await.map_err(|_| late())?.map_err(failed)?
        {
            let mut elements = Elements::<v1::Entity>::new(answer, ENTITIES, *budget);
            let mut turn = 0;
            while let Some(entity) = elements.next() {
                let entity = entity.map_err(|error| self.malformed(Rpc::Read, &error))?;
                let Some(left) = budget.checked_sub(elements.weight()) else {
                    return Err(self.too_much());
                };
                if each(entity).is_break() {
                    *budget = left;
                    return Ok(());
                }
                n_entities += 1;
                if n_entities.is_multiple_of(AT_ONCE) || elements.consumed() >= turn + BYTES_AT_ONCE {
                    turn = elements.consumed();
                    // One switch that answers at length holds up none of the others.
                    tokio::task::yield_now().await;
                }
            }
            *budget -= elements.weight();
        }
        Ok(())
    }

    fn too_much(&self) -> ClientError {
        let reason = format!(
            "its entities take more than the {} bytes of memory that they may, which `--switch-memory` sets",
            self.target.options.memory_limit
        );
        ClientError::Protocol { endpoint: self.endpoint().to_owned(), rpc: Rpc::Read, reason }
    }

    /// Reads what matches any of the entities.
    pub async fn read(&self, entities: Vec<v1::Entity>) -> Result<Vec<v1::Entity>, ClientError> {
        let mut budget = self.target.options.memory_limit;
        self.read_within(entities, &mut budget).await
    }

    async fn read_within(
        &self,
        entities: Vec<v1::Entity>,
        budget: &mut usize,
    ) -> Result<Vec<v1::Entity>, ClientError> {
        let mut found = Vec::new();
        self.read_each(entities, &RoleName::default(), budget, |entity| {
            found.push(entity);
            ControlFlow::Continue(())
        })
        .await?;
        Ok(found)
    }

    /// Reads everything that a controller writes, one table at a time, so that no answer holds more than one.
    ///
    /// Kinds of entities that the target does not implement are listed, not failed on.
    pub async fn read_state(&self, info: &Info) -> Result<State, ClientError> {
        let mut state = State::default();
        let mut budget = self.target.options.memory_limit;
        for wildcard in everything(info) {
            match self.read_within(vec![wildcard.clone()], &mut budget).await {
                Ok(mut entities) => state.entities.append(&mut entities),
                Err(error) if error.is_unimplemented() => state.unsupported.push(wildcard),
                Err(error) => return Err(error),
            }
        }
        Ok(state)
    }
}
